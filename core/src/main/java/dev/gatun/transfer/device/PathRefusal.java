package dev.gatun.transfer.device;

/**
 * Why a path cannot be taken between two processes.
 *
 * @param path which one
 * @param cause what stands against it
 * @param detail what was found, in words
 */
public record PathRefusal(DevicePath path, Cause cause, String detail) {
  /** What stands against a path. */
  public enum Cause {
    /** The two run on different machines. */
    OTHER_HOST,
    /** Process numbers of one mean nothing to the other, as in containers: its death could not be seen. */
    OTHER_PROCESS_NAMESPACE,
    /** They run as different users. */
    OTHER_USER,
    /** The memory of one is no memory to the driver of the other. */
    OTHER_DRIVER,
    /** A side's memory cannot be shared with another process. */
    NOT_SHARED,
    /** It was tried and the driver or the peer refused. */
    TRIED,
    /** A side has no NIXL for device memory. */
    NO_NIXL,
    /** A side has no transfer engine, or another one than its peer. */
    NO_ENGINE
  }

  @Override
  public String toString() {
    return path + ": " + detail;
  }
}
