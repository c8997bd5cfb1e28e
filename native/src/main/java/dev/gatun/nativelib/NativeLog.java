package dev.gatun.nativelib;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Sends what native code writes to standard error into a file, so that a terminal stays readable. {@link System#err}
 * keeps going where it went. Affects the whole process; for command lines, not for libraries.
 */
public final class NativeLog implements AutoCloseable {
  private static final int STDERR = 2;
  private static volatile boolean used;

  private final Path file;
  private final int original;
  private final PrintStream previousErr;
  private boolean open = true;

  private NativeLog(Path file, int original, PrintStream previousErr) {
    this.file = file;
    this.original = original;
    this.previousErr = previousErr;
  }

  /**
   * Redirects standard error of native code until closed.
   *
   * @param file file to create or empty; its directory must exist
   * @return the redirection
   * @throws IllegalArgumentException if the file cannot be created
   * @throws LibraryUnavailableException if the JVM denies native access
   */
  public static NativeLog redirectTo(Path file) {
    LibC libc = LibC.get();
    int log = libc.creat(file.toString(), 0600);
    if (log < 0) throw new IllegalArgumentException("native log cannot be created: " + file);
    System.err.flush();
    int original = libc.dup(STDERR);
    int moved = original < 0 ? original : libc.dup2(log, STDERR);
    libc.close(log);
    if (moved < 0) throw new IllegalStateException("no file descriptor left to redirect standard error");
    used = true;
    NativeLog redirection = new NativeLog(file, original, System.err);
    System.setErr(new PrintStream(new DescriptorStream(original), true, StandardCharsets.UTF_8));
    return redirection;
  }

  /**
   * Discards what native code writes to standard error from now on, if it was ever redirected; {@link System#err} keeps going
   * where it went. For a process that ends: calls that it has given up on still write.
   */
  public static void silence() {
    if (!used) return;
    LibC libc = LibC.get();
    int nowhere = libc.creat("/dev/null", 0600);
    int original = libc.dup(STDERR);
    if (nowhere < 0 || original < 0) return; // some words too many, then
    System.setErr(new PrintStream(new DescriptorStream(original), true, StandardCharsets.UTF_8));
    libc.dup2(nowhere, STDERR);
    libc.close(nowhere);
  }

  /** {@return the file that receives the output} */
  public Path file() {
    return file;
  }

  /** Restores standard error. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (!open) return;
    open = false;
    System.err.flush();
    LibC.get().dup2(original, STDERR);
    LibC.get().close(original);
    System.setErr(previousErr);
  }

  /** Java cannot open a stream on a descriptor number. */
  private static final class DescriptorStream extends OutputStream {
    private final int descriptor;

    DescriptorStream(int descriptor) {
      this.descriptor = descriptor;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[]{(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      try (Arena call = Arena.ofConfined()) {
        MemorySegment copy = call.allocate(Math.max(1, length)).asSlice(0, length);
        MemorySegment.copy(bytes, offset, copy, ValueLayout.JAVA_BYTE, 0, length);
        for (long done = 0; done < length;) {
          long n = LibC.get().write(descriptor, copy.asSlice(done));
          if (n <= 0) throw new IOException("standard error is closed");
          done += n;
        }
      }
    }
  }
}
