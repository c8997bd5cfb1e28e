package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.StoreOptionsBuilder;
import dev.gatun.nativelib.MasterOptions;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.nativelib.MooncakeRuntime;
import dev.gatun.nativelib.NativeLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A real Mooncake for tests: the installed runtime (installed if it is missing, and the test fails if it cannot be), one
 * master for the JVM, and one storage process beside it, so that data crosses TCP. Tests tagged {@code mooncake} run in a
 * JVM that is bound to this library and to no other.
 */
public final class MooncakeTestRuntime {
  /** Longest wait for the master in tests; one value a process. */
  public static final Duration RPC_TIMEOUT = Duration.ofSeconds(2);
  /** Memory of the shared storage process. */
  public static final long STORAGE_BYTES = 256L << 20;
  /** How long a read protects an object at the shared master: short, so that tests can outwait it. */
  public static final Duration LEASE = Duration.ofSeconds(1);

  private static final Duration ADMIN_MAX = Duration.ofSeconds(5);

  private static @Nullable MooncakeTestRuntime shared;
  private static @Nullable NativeLog log;

  private final MooncakeMaster master;
  private final ChildJvm storage;

  private MooncakeTestRuntime(MooncakeMaster master, ChildJvm storage) {
    this.master = master;
    this.storage = storage;
  }

  /** {@return the installed runtime} */
  public static synchronized MooncakeRuntime runtime() {
    if (log == null) {
      try {
        Path folder = Files.createDirectories(Path.of("target", "native-logs").toAbsolutePath());
        log = NativeLog.redirectTo(folder.resolve("mooncake-" + ProcessHandle.current().pid() + ".log"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return MooncakeInstaller.install(System.out::println);
  }

  /** {@return the shared master and storage, started by the first call and ended with the JVM} */
  public static synchronized MooncakeTestRuntime shared() {
    if (shared == null) {
      MooncakeMaster master = MooncakeMaster.start(runtime(), masterOptions());
      MooncakeTestRuntime started = new MooncakeTestRuntime(master, storage(master, STORAGE_BYTES));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> started.storage.closeInput(), "storage-end"));
      shared = started;
    }
    return shared;
  }

  /** {@return options of a master for tests: short leases, so that tests can outwait them} */
  public static MasterOptions masterOptions() {
    return MasterOptions.DEFAULT.withFlag("default_kv_lease_ttl", Long.toString(LEASE.toMillis()));
  }

  /** {@return a master of a test's own, to be closed by it; for tests that kill, freeze or restart it} */
  public static MooncakeMaster startMaster(MasterOptions options) {
    return MooncakeMaster.start(runtime(), options);
  }

  /** {@return a storage process for a master, to be closed by the caller; it ends when its input does} */
  public static ChildJvm storage(MooncakeMaster master, long segmentBytes) {
    return storage(master, segmentBytes, "127.0.0.1");
  }

  /** {@return a storage process under a name of its own} */
  public static ChildJvm storage(MooncakeMaster master, long segmentBytes, String localHostname) {
    return storage(master, segmentBytes, localHostname, "P2PHANDSHAKE");
  }

  /** {@return a storage process whose address is found at a metadata service} */
  public static ChildJvm storage(MooncakeMaster master, long segmentBytes, String localHostname, String metadata) {
    ChildJvm child = ChildJvm.start(StorageProcess.class, master.rpcAddress(), master.adminUrl().toString(),
        Long.toString(segmentBytes), localHostname, metadata);
    child.awaitLine("storage ready");
    return child;
  }

  /** {@return names of a master's segments} */
  public static List<String> segments(MooncakeMaster master) {
    try (MasterAdmin admin = new MasterAdmin(master.adminUrl().toString(), ADMIN_MAX, ADMIN_MAX)) {
      return admin.get("/get_all_segments", Deadline.after(ADMIN_MAX)).lines().filter(line -> !line.isBlank())
          .toList();
    }
  }

  /** {@return the shared master} */
  public MooncakeMaster master() {
    return master;
  }

  /** {@return options of a client of the shared master that contributes no memory} */
  public StoreOptionsBuilder pureClient() {
    return client(master);
  }

  /** {@return options of a client of a master that contributes no memory} */
  public static StoreOptionsBuilder client(MooncakeMaster master) {
    return StoreOptions.mooncake(master.rpcAddress()).masterAdmin(master.adminUrl().toString()).rpcTimeout(RPC_TIMEOUT);
  }
}
