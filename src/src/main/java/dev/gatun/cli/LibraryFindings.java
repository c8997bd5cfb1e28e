package dev.gatun.cli;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.Failure;
import dev.gatun.nativelib.LibraryLocation;
import dev.gatun.nativelib.LibraryUnavailableException;
import dev.gatun.nativelib.MooncakeRuntime;
import dev.gatun.nativelib.NativeLibraries;
import dev.gatun.store.Existence;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Which native libraries there are, and whether the embedded one works. */
final class LibraryFindings {
  private static final KvKey PROBE = KvKey.of("doctor");

  private final boolean debug;

  /** With {@code debug}, stack traces of what fails go to standard error. */
  LibraryFindings(boolean debug) {
    this.debug = debug;
  }

  List<Finding> all() {
    return List.of(embedded(), marker(), mooncake(), runtime(), nixl());
  }

  private Finding embedded() {
    return look("embedded library", true, () -> {
      LibraryLocation found = NativeLibraries.locateLoopback();
      putAndLook();
      return Finding.ok("embedded library", where(found) + "; loaded, a put and a look at it worked");
    });
  }

  private static void putAndLook() {
    StoreOptions options = StoreOptions.loopback("doctor", StoreOptions.SEGMENT_BYTES_MIN);
    EpochGate gate = new EpochGate(new WeightEpoch("doctor", 0));
    try (KvStore store = KvStore.open(options, KeyCodec.plain("doctor"), gate, Observer.NONE);
        Arena arena = Arena.ofConfined()) {
      store.put(PROBE, arena.allocateFrom(ValueLayout.JAVA_BYTE, "doctor".getBytes(StandardCharsets.US_ASCII)));
      if (store.exists(PROBE) != Existence.PRESENT) throw new IllegalStateException("a put left nothing behind");
    }
  }

  private Finding marker() {
    return look("signal marker", false,
        () -> Finding.ok("signal marker", where(NativeLibraries.locateMarker())));
  }

  private Finding mooncake() {
    return look("Mooncake libraries", false,
        () -> Finding.ok("Mooncake libraries", where(NativeLibraries.locateMooncake())));
  }

  private Finding runtime() {
    return look("Mooncake master", false, () -> MooncakeRuntime.installed()
        .map(found -> Finding.ok("Mooncake master", found.masterProgram() + ", version " + found.version()))
        .orElseGet(() -> Finding.absent("Mooncake master", "not installed by this command", "gatun mooncake install")));
  }

  private Finding nixl() {
    return look("NIXL library", false, () -> Finding.ok("NIXL library", where(NativeLibraries.locateNixl())));
  }

  private Finding look(String what, boolean needed, Supplier<Finding> look) {
    try {
      return look.get();
    } catch (LibraryUnavailableException missing) {
      return found(what, needed, missing.getMessage().lines().findFirst().orElse(""), missing.fix());
    } catch (RuntimeException broken) {
      if (debug) broken.printStackTrace();
      return found(what, needed, Failure.message(broken), debug ? "see the stack trace" : "see gatun doctor --debug");
    }
  }

  private static Finding found(String what, boolean needed, String detail, String fix) {
    return needed ? Finding.broken(what, detail, fix) : Finding.absent(what, detail, fix);
  }

  private static String where(LibraryLocation found) {
    return found.loadOrder().stream().map(Object::toString).collect(Collectors.joining(", ")) + " (from "
        + found.chosenFrom() + ')';
  }
}
