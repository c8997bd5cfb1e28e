package dev.gatun.rdma;

import dev.gatun.backend.ByteSize;

/**
 * How a registration went that was made to see whether it works.
 *
 * @param device which device
 * @param bytes how much fresh host memory was registered
 * @param fault what failed and how; empty if it worked
 * @param fix what to do about that; empty if it worked
 */
public record RegistrationTrial(String device, long bytes, String fault, String fix) {

  /** {@return whether it worked} */
  public boolean worked() {
    return fault.isEmpty();
  }

  /** {@return it in words, such as {@code a trial registration of 1 MiB worked}} */
  public String describe() {
    return "a trial registration of " + ByteSize.format(bytes) + (worked() ? " worked" : " failed, " + fault);
  }
}
