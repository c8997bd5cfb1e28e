package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.MemoryBudget;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import dev.gatun.store.StorePolicy;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Main class of a process with a live store that ends in one of the ways a JVM can end. */
final class ExitScenarios {
  private static final int THREADS = 8;
  private static final int NULLS = 1_000_000;
  private static final long LARGE_BYTES = 8L << 30;

  private ExitScenarios() {}

  public static void main(String[] arguments) throws Throwable {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> say("hook ran")));
    List<Long> handlers = handlers();
    long blocked = blockedSignals();
    StoreBackend store = open(arguments);
    Arena arena = Arena.global(); // process
    MemorySegment key = arena.allocateFrom("exit-" + ProcessHandle.current().pid());
    MemorySegment page = arena.allocate(65_536);
    int stored = store.put(key, page, page.byteSize(), store.encodeReplicate(ReplicateOptions.DEFAULT, arena));
    if (stored != 0) throw new IllegalStateException("put answered " + stored);
    say("open");
    switch (arguments[1]) {
      case "close" -> store.close();
      case "return" -> say("returning");
      case "exit" -> System.exit(3);
      case "halt" -> Runtime.getRuntime().halt(4);
      case "registered" -> register(store);
      case "registered close" -> register(store).close();
      case "late" -> Runtime.getRuntime().addShutdownHook(new Thread(() -> openLate(arguments)));
      case "wait" -> new CountDownLatch(1).await();
      case "threads" -> exitUnderGets(store, key, arena);
      case "signals" -> {
        signals(handlers, blocked);
        store.close();
      }
      default -> throw new IllegalArgumentException(arguments[1]);
    }
  }

  private static StoreBackend open(String[] arguments) {
    if (arguments[0].equals(StoreOptions.LOOPBACK)) {
      return new LoopbackBackendProvider().open(StoreOptions.loopback("exit", 16L << 20));
    }
    return new MooncakeBackendProvider().open(StoreOptions.mooncake(arguments[0]).segmentBytes(16L << 20)
        .rpcTimeout(MooncakeTestRuntime.RPC_TIMEOUT).build());
  }

  /** A large slab, of which nothing is touched but what the library touches. */
  private static KvStore register(StoreBackend store) {
    StoreOptions options = StoreOptions.loopback("registered", 0);
    KvStore owner = KvStore.open(store, options, KeyCodec.plain("exit"), new EpochGate(new WeightEpoch("run", 1)),
        Observer.NONE, StorePolicy.DEFAULT);
    owner.register(Slab.allocate(SlabOptions.of("large", LARGE_BYTES)
        .within(MemoryBudget.capped("large", LARGE_BYTES))));
    say("registered " + LARGE_BYTES);
    return owner;
  }

  /** Hooks run side by side, so a store may still open until the one that closes stores has begun. */
  private static void openLate(String[] arguments) {
    while (true) {
      try {
        open(arguments).close();
      } catch (GatunException e) {
        say("late: " + e.getMessage());
        return;
      }
    }
  }

  /** Daemon threads are inside native gets when the JVM goes down. */
  private static void exitUnderGets(StoreBackend store, MemorySegment key, Arena arena) throws InterruptedException {
    CountDownLatch reading = new CountDownLatch(THREADS);
    AtomicInteger refused = new AtomicInteger();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> say("refused at exit " + refused.get())));
    for (int i = 0; i < THREADS; i++) {
      MemorySegment page = arena.allocate(65_536);
      Thread.ofPlatform().daemon().start(() -> {
        try {
          while (true) {
            if (store.get(key, page, page.byteSize()) > 0) reading.countDown();
          }
        } catch (ClosedException expected) {
          refused.incrementAndGet();
        }
      });
    }
    reading.await();
    System.exit(0);
  }

  /** The JVM's own signals still work, this thread blocks none, and children of this process can be ended. */
  private static void signals(List<Long> handlers, long blocked) throws Throwable {
    say("changed handlers " + changed(handlers, handlers()));
    say("blocked signals " + (blocked == blockedSignals() ? "unchanged" : Long.toHexString(blockedSignals())));
    int caught = 0;
    for (int i = 0; i < NULLS; i++) {
      caught += nullPointer(i % 2 == 0 ? null : "x");
      if (i % 100_000 == 0) System.gc();
    }
    say("caught " + caught);
    Process child = new ProcessBuilder("sleep", "60").start();
    child.destroy();
    say("child ended " + child.waitFor(20, TimeUnit.SECONDS));
    child.destroyForcibly();
  }

  /** Compiled code finds the null by taking a SIGSEGV. */
  @SuppressWarnings("NullAway") // the null is the point
  private static int nullPointer(@Nullable String text) {
    try {
      return text.length() - 1;
    } catch (NullPointerException expected) {
      return 1;
    }
  }

  private static List<Integer> changed(List<Long> before, List<Long> after) {
    List<Integer> changed = new ArrayList<>();
    for (int i = 0; i < before.size(); i++) {
      if (!before.get(i).equals(after.get(i))) changed.add(i + 1);
    }
    return changed;
  }

  /** Addresses of the handlers of signals 1 to 31. The structure begins with the handler on x86-64 and AArch64. */
  private static List<Long> handlers() throws Throwable {
    Linker linker = Linker.nativeLinker();
    MethodHandle sigaction = linker.downcallHandle(linker.defaultLookup().findOrThrow("sigaction"),
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    List<Long> handlers = new ArrayList<>();
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment old = call.allocate(256);
      for (int signal = 1; signal < 32; signal++) {
        int code = (int) sigaction.invokeExact(signal, MemorySegment.NULL, old);
        handlers.add(code == 0 ? old.get(ADDRESS, 0).address() : -1);
      }
    }
    return handlers;
  }

  private static long blockedSignals() throws IOException {
    return Files.readAllLines(Path.of("/proc/thread-self/status")).stream().filter(line -> line.startsWith("SigBlk:"))
        .mapToLong(line -> Long.parseUnsignedLong(line.substring(7).strip(), 16)).findFirst().orElseThrow();
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
