package dev.gatun.memory;

import org.jspecify.annotations.Nullable;

/**
 * A block that is not free, as it was found.
 *
 * @param index its place in the pool
 * @param block its handle
 * @param references leases that share it; 0 if released with transfers still running
 * @param readers transfers that read it
 * @param writing whether a transfer writes it
 * @param quarantined whether a transfer of it is in quarantine
 * @param current whether it is of the epoch in force
 * @param site where it was leased and who last began a transfer, if the pool tracks leases
 */
public record BlockStatus(int index, long block, int references, int readers, boolean writing, boolean quarantined,
    boolean current, @Nullable LeaseSite site) {
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("block ").append(index).append(": ").append(references)
        .append(" references");
    if (readers > 0) text.append(", ").append(readers).append(" reading");
    if (writing) text.append(", 1 writing");
    if (quarantined) text.append(", in quarantine");
    if (!current) text.append(", of an earlier epoch");
    if (site != null) text.append(", ").append(site);
    return text.toString();
  }
}
