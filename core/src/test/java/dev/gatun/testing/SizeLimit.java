package dev.gatun.testing;

import dev.gatun.backend.RegistrationAdvice;

/**
 * Advice that refuses what is larger than a limit, and has a hint for every failure.
 *
 * @param bytesMax the limit
 */
public record SizeLimit(long bytesMax) implements RegistrationAdvice {
  @Override
  public String refusal(long bytes) {
    return bytes > bytesMax ? bytes + " bytes are more than " + bytesMax : "";
  }

  @Override
  public String hint(long bytes, long code) {
    return "hint for " + bytes + " bytes and code " + code;
  }
}
