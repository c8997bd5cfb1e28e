package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.Observer;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.StoreOptionsBuilder;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import dev.gatun.store.StorePolicy;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/** Main class of a process that is bound to the recorder library; prints what Java sees, beside what native code sees. */
final class RecorderScenarios {
  private RecorderScenarios() {}

  private static Path library = Path.of("unset");
  private static int port;

  public static void main(String[] arguments) throws IOException {
    library = Path.of(arguments[1]);
    // the provider asks whether somebody listens at the master's address before it opens the library
    try (ServerSocket master = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      port = master.getLocalPort();
      switch (arguments[0]) {
        case "options" -> options();
        case "calls" -> calls(Path.of(arguments[2]));
        case "replicate" -> replicate();
        case "refusals" -> refusals();
        case "destroyHangs" -> destroyHangs();
        case "registered" -> registered();
        case "locked" -> locked();
        case "setupFails" -> say(outcome(builder -> builder));
        case "doubts" -> {
          try (StoreBackend store = open(builder -> builder)) {
            say("doubts " + store.doubts());
          }
          try (StoreBackend store = open(
              builder -> builder.master("etcd://127.0.0.1:2379").localHostname("127.0.0.1"))) {
            say("unprovable " + store.doubts() + store.unprovable());
          }
        }
        default -> throw new IllegalArgumentException(arguments[0]);
      }
    }
    say("end");
  }

  private static void options() {
    try (StoreBackend store = open(builder -> builder.localHostname("127.0.0.1:12399").segmentBytes(64L << 20)
        .localBufferBytes(32L << 20).devices("mlx5_0,mlx5_1").metadataServer("http://127.0.0.1:8080/metadata")
        .rpcTimeout(Duration.ofMillis(1500)))) {
      say("name " + store.name().replace(Integer.toString(port), "PORT") + " hostname " + store.hostname());
    }
  }

  /** Lengths beyond 32 bits, both ways; the file is sparse, so they cost no memory. */
  private static void calls(Path file) throws IOException {
    long bytes = (4L << 30) + 1;
    try (StoreBackend store = open(builder -> builder);
        Arena arena = Arena.ofConfined();
        FileChannel sparse = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      MemorySegment memory = sparse.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
      MemorySegment config = store.encodeReplicate(ReplicateOptions.DEFAULT, arena);
      MemorySegment key = arena.allocateFrom("k");
      say("put " + store.put(key, memory, bytes, config));
      say("get " + store.get(key, memory, bytes));
      MemorySegment keys = arena.allocate(ADDRESS);
      keys.set(ADDRESS, 0, key);
      MemorySegment pages = arena.allocate(ADDRESS);
      pages.set(ADDRESS, 0, memory);
      MemorySegment sizes = arena.allocateFrom(JAVA_LONG, bytes);
      MemorySegment results = arena.allocate(JAVA_LONG);
      say("batchPut " + store.batchPut(keys, pages, sizes, 1, config, results) + ' ' + results.get(JAVA_INT, 0));
      say("batchGet " + store.batchGet(keys, pages, sizes, 1, results) + ' ' + results.get(JAVA_LONG, 0));
      say("exists " + store.exists(key));
      say("batchExists " + store.batchExists(keys, 1, results) + ' ' + results.get(JAVA_INT, 0));
      say("size " + store.size(key));
      say("remove " + store.remove(key, true) + ' ' + store.remove(key, false));
      say("removeMatching " + store.removeMatching(key, true));
      say("removeAll " + store.removeAll(true) + ' ' + store.removeAll(false));
      say("register " + store.register(memory) + ' ' + store.unregister(memory));
      say("health " + store.health());
    }
  }

  private static void replicate() {
    List<ReplicateOptions> all = List.of(ReplicateOptions.DEFAULT, new ReplicateOptions(3, true, false, List.of()),
        new ReplicateOptions(1, false, true, List.of()), new ReplicateOptions(2, true, true, List.of("a:1", "b:22")));
    try (StoreBackend store = open(builder -> builder); Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(1);
      for (ReplicateOptions options : all) {
        store.put(arena.allocateFrom("k"), value, 1, store.encodeReplicate(options, arena));
      }
    }
  }

  private static void refusals() {
    say("redis " + outcome(builder -> builder.metadataServer("redis://127.0.0.1:6379")));
    say("missing " + outcome(builder -> builder.libraryPath(library.resolveSibling("absent.so"))));
    say("nobody " + outcome(builder -> builder.master("127.0.0.1:1")));
    say("first " + outcome(builder -> builder));
    say("timeout " + outcome(builder -> builder.rpcTimeout(Duration.ofSeconds(9))));
    say("protocol " + outcome(builder -> builder.protocol("rdma")));
    say("later redis " + outcome(builder -> builder.libraryPath(null).metadataServer("redis://127.0.0.1:6379")));
    say("same " + outcome(builder -> builder.libraryPath(null)));
    try {
      new LoopbackBackendProvider().open(StoreOptions.loopback("main", 0)).close();
      say("loopback opened");
    } catch (RuntimeException e) {
      say("loopback " + e.getMessage());
    }
  }

  private static void registered() {
    StoreOptions options = StoreOptions.mooncake("127.0.0.1:" + port).libraryPath(library).build();
    try (Slab slab = Slab.allocate(SlabOptions.of("registered", 64 << 20))) {
      try (
          KvStore store = KvStore.open(new MooncakeBackendProvider().open(options), options, KeyCodec.plain("recorder"),
              new EpochGate(new WeightEpoch("run", 1)), Observer.NONE, StorePolicy.DEFAULT)) {
        store.register(slab);
      }
      say("closed, " + slab.registrations().size() + " registrations");
    }
  }

  /** With a locked-memory limit below the memory: what Mooncake would register itself, then a slab. */
  private static void locked() {
    say("segment " + outcome(builder -> builder.protocol("rdma").segmentBytes(64L << 20)));
    StoreOptions options = StoreOptions.mooncake("127.0.0.1:" + port).libraryPath(library).protocol("rdma")
        .segmentBytes(0).localBufferBytes(0).build();
    try (Slab slab = Slab.allocate(SlabOptions.of("locked", 64 << 20));
        KvStore store = KvStore.open(new MooncakeBackendProvider().open(options), options, KeyCodec.plain("recorder"),
            new EpochGate(new WeightEpoch("run", 1)), Observer.NONE, StorePolicy.DEFAULT)) {
      store.register(slab);
      say("registered");
    } catch (GatunException e) {
      say("slab " + e.getMessage());
    }
  }

  private static void destroyHangs() {
    StoreBackend store = open(builder -> builder.closeTimeout(Duration.ofMillis(300)));
    say("pending " + store.close(Deadline.after(Duration.ofMillis(100))));
    store.close(); // logs the warning, and returns
  }

  private static StoreBackend open(UnaryOperator<StoreOptionsBuilder> change) {
    StoreOptionsBuilder builder = StoreOptions.mooncake("127.0.0.1:" + port).libraryPath(library);
    return new MooncakeBackendProvider().open(change.apply(builder).build());
  }

  private static String outcome(UnaryOperator<StoreOptionsBuilder> change) {
    try {
      open(change).close();
      return "opened";
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName() + ' ' + e.getMessage();
    }
  }

  private static void say(String line) {
    System.out.println("java " + line.replace('\n', ' '));
    System.out.flush();
  }
}
