package dev.gatun.refit;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * What came back from a call on a {@link Lane}.
 *
 * @param value what it returned; empty if there is a problem
 * @param problem what it threw, or how it failed to come back; empty if it returned
 * @param pending whether it may still be running, or never started
 */
record Answer<T>(Optional<T> value, String problem, boolean pending) {

  static <T> Answer<T> of(T value) {
    return new Answer<>(Optional.of(value), "", false);
  }

  static <T> Answer<T> threw(Throwable thrown) {
    return new Answer<>(Optional.empty(), thrown.getMessage() == null ? thrown.toString() : thrown.getMessage(), false);
  }

  static <T> Answer<T> pending(String problem) {
    return new Answer<>(Optional.empty(), problem, true);
  }

  void then(Consumer<T> returned, Consumer<String> failed) {
    value.ifPresentOrElse(returned, () -> failed.accept(problem));
  }
}
