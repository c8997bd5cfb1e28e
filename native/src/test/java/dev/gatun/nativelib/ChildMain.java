package dev.gatun.nativelib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** What {@link ChildJvm} runs: the first argument names the scenario, results are lines {@code name=value}. */
final class ChildMain {
  private ChildMain() {}

  static void main(String[] arguments) throws Throwable {
    switch (arguments[0]) {
      case "environment-twice" -> environmentTwice();
      case "native-log" -> nativeLog(Path.of(arguments[1]));
      case "install" -> install(arguments);
      case "nixl" -> nixl();
      case "master" -> master();
      case "create" -> create(arguments[1].equals("marked"));
      case "round-trip" -> roundTrip(arguments[1]);
      case "open-close" -> openClose(arguments[1]);
      case "null-pointers" -> nullPointers(arguments[1]);
      case "closed-port" -> closedPort(arguments[1]);
      default -> throw new IllegalArgumentException("scenario: " + arguments[0]);
    }
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }

  /** The second attempt must not be worse explained than the first. */
  private static void environmentTwice() {
    for (String attempt : List.of("first", "second")) {
      try {
        NativeEnvironment.setenv("GATUN_TEST_VARIABLE", attempt);
        print(attempt, NativeEnvironment.getenv("GATUN_TEST_VARIABLE").orElse(""));
      } catch (LibraryUnavailableException e) {
        print(attempt, e.getMessage().replace('\n', ' '));
      }
    }
  }

  private static void nativeLog(Path file) {
    LibC libc = LibC.get();
    System.err.println("java before");
    try (NativeLog log = NativeLog.redirectTo(file)) {
      System.err.println("java during");
      nativeError(libc, "native during\n");
      print("file", log.file());
    }
    System.err.println("java after");
    nativeError(libc, "native after\n");
    NativeLog.silence();
    System.err.println("java at the end");
    nativeError(libc, "native at the end\n");
  }

  private static void nativeError(LibC libc, String text) {
    try (var arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocateFrom(text);
      libc.write(2, bytes.asSlice(0, text.length()));
    }
  }

  private static void install(String[] arguments) {
    try {
      MooncakeRuntime runtime = arguments.length == 1
          ? MooncakeInstaller.install(step -> print("step", step))
          : MooncakeInstaller.installFrom(Path.of(arguments[1]), step -> print("step", step));
      print("root", runtime.root());
    } catch (LibraryUnavailableException e) {
      print("failed", e.getMessage().replace('\n', ' '));
    }
  }

  private static void nixl() {
    RawNixl agent = RawNixl.create(NativeLibraries.open(NativeLibraries.locateNixl().loadOrder()));
    print("plugins", agent.plugins());
    print("UCX", agent.createBackend("UCX"));
    print("POSIX", agent.createBackend("POSIX"));
    agent.destroy();
  }

  /** Starts a master and waits for the end that its parent has in mind for it. */
  private static void master() throws InterruptedException {
    MooncakeMaster master = MooncakeMaster.start(MooncakeInstaller.install());
    print("pid", master.pid());
    Thread.sleep(Duration.ofMinutes(2));
  }

  private static List<Path> prepared() {
    NativeEnvironment.setenv("MC_FORCE_TCP", "1");
    return MooncakeInstaller.install().libraries();
  }

  @SuppressWarnings("try") // the marker works by being open
  private static RawStore marked() {
    var symbols = NativeLibraries.open(prepared());
    try (SignalMarker marker = SignalMarker.open()) {
      print("takes effect", marker.takesEffect());
      return RawStore.create(symbols);
    } finally {
      print("visible to others", LibC.get().dlsym(MemorySegment.NULL, "Py_IsInitialized").address() != 0);
    }
  }

  private static void create(boolean marked) throws Exception {
    print("before", SignalState.blocked());
    RawStore store = marked ? marked() : RawStore.create(NativeLibraries.open(prepared()));
    print("after", SignalState.blocked());
    store.destroy();
  }

  private static void roundTrip(String master) throws Exception {
    print("blocked before", SignalState.blocked());
    RawStore store = marked();
    print("setup", store.setup("127.0.0.1:0", 64L << 20, 16L << 20, master));
    print("blocked after", SignalState.blocked());
    byte[] page = new byte[1 << 20];
    for (int i = 0; i < page.length; i++)
      page[i] = (byte) (i * 31 + i / 255);
    print("absent", store.getInto("page", new byte[16]));
    print("put", store.put("page", page));
    byte[] read = new byte[page.length];
    print("get", store.getInto("page", read));
    print("same", java.util.Arrays.equals(page, read));
    print("exists", store.exists("page"));
    print("removed", store.removeAll(true));
    print("gone", store.getInto("page", read));
    store.destroy();
    print("destroyed", true);
  }

  private static void openClose(String master) throws Exception {
    RawStore store = marked();
    print("setup", store.setup("127.0.0.1:0", 16L << 20, 1L << 20, master));
    print("put", store.put("key", new byte[100]));
    store.destroy();
  }

  private static void nullPointers(String master) throws Throwable {
    List<String> before = SignalState.handlers();
    RawStore store = marked();
    print("setup", store.setup("127.0.0.1:0", 16L << 20, 1L << 20, master));
    print("handlers before", before);
    print("handlers after", SignalState.handlers());
    print("caught", NullPointers.provoke(1_000_000));
    print("put", store.put("key", new byte[100]));
    store.destroy();
  }

  private static void closedPort(String master) throws Exception {
    RawStore store = marked();
    print("setup", store.setup("127.0.0.1:0", 16L << 20, 1L << 20, master));
    store.destroy();
  }
}
