package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * What the kernel counts for this process.
 *
 * @param threads native threads, the JVM's own included
 * @param descriptors open file descriptors
 */
record ProcessFigures(long threads, long descriptors) {
  private static final long POLL_NANOS = 20_000_000;

  static ProcessFigures now() {
    return new ProcessFigures(entries("/proc/self/task"), entries("/proc/self/fd"));
  }

  /** Waits until no more than {@code extra} of either is left over; threads of a pool may take a moment to end. */
  static void awaitWithin(ProcessFigures before, long extra) {
    Deadline deadline = Deadline.after(Duration.ofSeconds(90));
    ProcessFigures now = now();
    while (now.threads > before.threads + extra || now.descriptors > before.descriptors + extra) {
      if (deadline.reached()) throw new AssertionError("before " + before + ", now " + now);
      LockSupport.parkNanos(POLL_NANOS);
      now = now();
    }
  }

  private static long entries(String folder) {
    try (Stream<Path> entries = Files.list(Path.of(folder))) {
      return entries.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
