package dev.gatun.nativelib;

import java.util.Optional;

/**
 * The environment as native code of this process sees it. {@link System#getenv()} keeps showing the values of process
 * start. Mooncake reads its variables once and early: set them before the first store or engine is created.
 *
 * <p>Any thread, but not while another thread may be inside native code that reads the environment: the C library's
 * environment has no lock that readers take.
 */
public final class NativeEnvironment {
  private NativeEnvironment() {}

  /**
   * Sets a variable, replacing an older value.
   *
   * @param name variable, not empty, without {@code =} and NUL
   * @param value value, without NUL
   * @throws IllegalArgumentException if the name or value cannot be represented
   * @throws LibraryUnavailableException if the JVM denies native access
   */
  public static void setenv(String name, String value) {
    check(name);
    if (value.indexOf('\0') >= 0) throw new IllegalArgumentException("value of " + name + " must not contain NUL");
    if (LibC.get().setenv(name, value) != 0) throw new IllegalStateException("setenv " + name + ": out of memory");
  }

  /**
   * Removes a variable; one that is not set stays so.
   *
   * @param name variable, not empty, without {@code =} and NUL
   * @throws IllegalArgumentException if the name cannot be represented
   * @throws LibraryUnavailableException if the JVM denies native access
   */
  public static void unsetenv(String name) {
    check(name);
    if (LibC.get().unsetenv(name) != 0) throw new IllegalStateException("unsetenv " + name + " failed");
  }

  /**
   * {@return the value that native code sees, empty when not set}
   *
   * @param name variable, not empty, without {@code =} and NUL
   * @throws IllegalArgumentException if the name cannot be represented
   * @throws LibraryUnavailableException if the JVM denies native access
   */
  public static Optional<String> getenv(String name) {
    check(name);
    return Optional.ofNullable(LibC.get().getenv(name));
  }

  private static void check(String name) {
    if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("name must not be empty and must not contain '=' or NUL: " + name);
    }
  }
}
