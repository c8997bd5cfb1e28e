package dev.gatun.backend;

/**
 * One range of memory that an engine has registered, as its peers see it.
 *
 * @param address absolute address in the process that owns it, an unsigned number that is not 0
 * @param bytes its length, above 0
 * @param location where the memory is: {@code cpu:N}, {@code cuda:N}, or {@code *} where the library finds out
 */
public record MemoryRange(long address, long bytes, String location) {
  /** Memory of the host, on whichever node. */
  public static final String ANYWHERE = "*";
  // longest name of a place in any library; keeps descriptors small
  private static final int LOCATION_MAX = 64;

  /** Refuses an empty range, one beyond the address space, and a blank location. */
  public MemoryRange {
    if (address == 0) throw new IllegalArgumentException("address must not be 0");
    if (bytes <= 0) throw new IllegalArgumentException("bytes must be positive: " + bytes);
    if (Long.compareUnsigned(address + (bytes - 1), address) < 0) {
      throw new IllegalArgumentException("range must end within the address space: address "
          + Long.toUnsignedString(address) + ", bytes " + bytes);
    }
    if (location.isBlank() || location.length() > LOCATION_MAX || location.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("location must be 1 to " + LOCATION_MAX + " characters without NUL: \""
          + location.replace("\0", "\\0") + '"');
    }
  }

  /**
   * {@return whether a range of addresses lies within this one}
   *
   * @param first its first address
   * @param length its length in bytes, 0 or more
   */
  public boolean contains(long first, long length) {
    return Long.compareUnsigned(first, address) >= 0 && Long.compareUnsigned(first - address, bytes) <= 0
        && length <= bytes - (first - address);
  }
}
