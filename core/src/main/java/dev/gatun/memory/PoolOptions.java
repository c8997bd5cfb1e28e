package dev.gatun.memory;

/**
 * What a pool does beyond lending blocks.
 *
 * @param name for reports and messages, not empty
 * @param trackLeases record the stack of each lease, for {@link BlockPool#outstanding} and the report at close; costs
 *   about a microsecond a lease
 * @param poison overwrite each page with {@link #POISON} when its block becomes free, so that reading through a stale
 *   segment shows; costs a fill a release
 */
public record PoolOptions(String name, boolean trackLeases, boolean poison) {
  /** The byte that fills freed pages when {@link #poison} is on: as float16, bfloat16 and fp8 an unlikely value. */
  public static final byte POISON = (byte) 0xDB;

  /** Refuses an empty name. */
  public PoolOptions {
    if (name.isBlank()) throw new IllegalArgumentException("name must not be blank: \"" + name + '"');
  }

  /**
   * {@return options with everything off}
   *
   * @param name for reports
   */
  public static PoolOptions named(String name) {
    return new PoolOptions(name, false, false);
  }

  /** {@return these options with leases tracked} */
  public PoolOptions tracked() {
    return new PoolOptions(name, true, poison);
  }

  /** {@return these options with freed pages poisoned} */
  public PoolOptions poisoned() {
    return new PoolOptions(name, trackLeases, true);
  }
}
