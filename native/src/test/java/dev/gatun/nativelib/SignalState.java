package dev.gatun.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Signals of this process and thread, as the kernel has them. */
final class SignalState {
  // struct sigaction of glibc on 64-bit Linux: handler @0
  private static final long SIGACTION_BYTES = 152;
  // ignored by the JVM's handler, and by the store's choice: no difference
  private static final int SIGPIPE = 13;

  private SignalState() {}

  /** Signals that the calling thread blocks, in hexadecimal. */
  static String blocked() throws IOException {
    return Files.readAllLines(Path.of("/proc/thread-self/status")).stream().filter(line -> line.startsWith("SigBlk"))
        .findFirst().orElseThrow().substring("SigBlk:".length()).strip();
  }

  /** Handlers of all signals but one: those that a JVM relies on are ILL, BUS, FPE, SEGV and those it takes for itself. */
  static List<String> handlers() throws Throwable {
    Linker linker = Linker.nativeLinker();
    var sigaction = linker.downcallHandle(linker.defaultLookup().find("sigaction").orElseThrow(),
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    List<String> handlers = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment action = arena.allocate(SIGACTION_BYTES, 8);
      for (int signal = 1; signal <= 31; signal++) {
        action.fill((byte) 0);
        int code = (int) sigaction.invokeExact(signal, MemorySegment.NULL, action);
        if (code != 0) throw new AssertionError("sigaction " + signal);
        if (signal != SIGPIPE) handlers.add(signal + ":" + Long.toHexString(action.get(JAVA_LONG, 0)));
      }
    }
    return handlers;
  }
}
