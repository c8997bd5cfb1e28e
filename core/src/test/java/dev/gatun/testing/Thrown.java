package dev.gatun.testing;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Objects;
import org.junit.jupiter.api.function.Executable;

/** Expected exceptions, by what they say. */
public final class Thrown {
  private Thrown() {}

  /** {@return the message of the exception that the call must throw} */
  public static String message(Class<? extends Throwable> type, Executable call) {
    return Objects.requireNonNull(assertThrows(type, call).getMessage(), "no message");
  }
}
