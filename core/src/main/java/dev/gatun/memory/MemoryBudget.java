package dev.gatun.memory;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hard cap on off-heap memory, with its gauge. The JVM's own limits and its native-memory tracking do not see memory
 * mapped through FFM, so without a cap the first sign of too much is the kernel's kill. Usable by any thread.
 */
public final class MemoryBudget {
  /** System property that caps {@link #process()}, in bytes. */
  public static final String CAP_PROPERTY = "gatun.memory.capBytes";

  private static final Logger LOG = LoggerFactory.getLogger(MemoryBudget.class);

  private final String name;
  private final long capBytes;
  private final AtomicLong usedBytes = new AtomicLong();

  private MemoryBudget(String name, long capBytes) {
    this.name = name;
    this.capBytes = capBytes;
  }

  private static @Nullable MemoryBudget process;

  /**
   * {@return the budget that slabs use unless told otherwise: {@value #CAP_PROPERTY} bytes, by default the limit of the
   * container or machine}
   *
   * @throws IllegalArgumentException if the property is not a positive number
   */
  public static synchronized MemoryBudget process() {
    if (process == null) {
      String text = System.getProperty(CAP_PROPERTY);
      process = text == null
          ? new MemoryBudget("process", ContainerLimit.bytes())
          : capped("process", parse(text), ContainerLimit.bytes());
    }
    return process;
  }

  /**
   * Creates a budget; warns when the container would be killed before the cap is reached.
   *
   * @param name for messages
   * @param capBytes the cap, above 0
   * @return an unused budget
   */
  public static MemoryBudget capped(String name, long capBytes) {
    return capped(name, capBytes, ContainerLimit.bytes());
  }

  static MemoryBudget capped(String name, long capBytes, long limitBytes) {
    if (capBytes <= 0) throw new IllegalArgumentException("capBytes must be positive: " + capBytes);
    excess(name, capBytes, limitBytes).ifPresent(LOG::warn);
    return new MemoryBudget(name, capBytes);
  }

  static Optional<String> excess(String name, long capBytes, long limitBytes) {
    return capBytes <= limitBytes
        ? Optional.empty()
        : Optional.of("memory budget " + name + ": cap of " + capBytes + " bytes exceeds the " + limitBytes
            + " bytes this container or machine may use; it would be killed before the cap is reached");
  }

  /** {@return the cap in bytes} */
  public long capBytes() {
    return capBytes;
  }

  /** {@return bytes of the open slabs, the gauge} */
  public long usedBytes() {
    return usedBytes.get();
  }

  private static long parse(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(CAP_PROPERTY + " must be a number of bytes: \"" + text + '"', e);
    }
  }

  void reserve(long bytes) {
    long used;
    do {
      used = usedBytes.get();
      if (bytes > capBytes - used) {
        throw new MemoryBudgetException("memory budget " + name + ": " + bytes + " bytes asked, " + used + " of "
            + capBytes + " in use; close slabs, ask for less, or raise the cap (-D" + CAP_PROPERTY + "=BYTES)");
      }
    } while (!usedBytes.compareAndSet(used, used + bytes));
  }

  void giveBack(long bytes) {
    usedBytes.addAndGet(-bytes);
  }
}
