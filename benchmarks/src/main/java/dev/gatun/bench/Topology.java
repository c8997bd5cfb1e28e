package dev.gatun.bench;

import dev.gatun.backend.StoreOptions;
import dev.gatun.nativelib.MasterOptions;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.nativelib.MooncakeRuntime;
import dev.gatun.nativelib.NativeLibraries;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Where the store's memory is while programs are compared: in the measured process ({@code local}), or, with a real
 * Mooncake, in a storage process behind TCP ({@code tcp}). Owns the master and the storage process.
 */
final class Topology implements AutoCloseable {
  // what the default of the product's options sets for its own process
  private static final String RPC_TIMEOUT_MILLIS = "10000";
  private static final long STORAGE_END_SECONDS = 30;

  private final String name;
  private final String library;
  private final List<Path> libraries;
  private final long segmentBytes;
  private final @Nullable MooncakeMaster master;
  private final Launcher launcher;
  private final @Nullable Process storage;

  private Topology(String name, String library, List<Path> libraries, long segmentBytes,
      @Nullable MooncakeMaster master, Launcher launcher) {
    this.name = name;
    this.library = library;
    this.libraries = libraries;
    this.segmentBytes = segmentBytes;
    this.master = master;
    this.launcher = launcher;
    storage = name.equals("tcp") ? startStorage() : null;
  }

  /** The embedded library: everything in the measured process. */
  static Topology loopback(long segmentBytes, Path log) {
    return new Topology("local", StoreOptions.LOOPBACK, NativeLibraries.locateLoopback().loadOrder(), segmentBytes,
        null,
        new Launcher(log, Map.of()));
  }

  /** Real Mooncake, installed if it is missing, over a master of its own; {@code local} or {@code tcp}. */
  static Topology mooncake(String name, long segmentBytes, Path log) {
    MooncakeRuntime runtime = MooncakeInstaller.install(System.err::println);
    Launcher launcher = new Launcher(log, Map.of("MC_FORCE_TCP", "1", "MC_RPC_TIMEOUT_MS", RPC_TIMEOUT_MILLIS,
        "MC_RPC_CONNECT_TIMEOUT_MS", RPC_TIMEOUT_MILLIS));
    MooncakeMaster master = MooncakeMaster.start(runtime, MasterOptions.DEFAULT.withLog(Path.of(log + ".master")));
    try {
      return new Topology(name, StoreOptions.MOONCAKE, runtime.libraries(), segmentBytes, master, launcher);
    } catch (RuntimeException | Error e) {
      master.close();
      throw e;
    }
  }

  String name() {
    return name;
  }

  Launcher launcher() {
    return launcher;
  }

  /** {@return flags that both the Java and the C program take} */
  List<String> commonFlags() {
    List<String> flags = new ArrayList<>(List.of("--segment", Long.toString(storage == null ? segmentBytes : 0)));
    if (master != null) flags.addAll(List.of("--master", master.rpcAddress()));
    return flags;
  }

  /** {@return how this process opens the store} */
  StoreOptions store() {
    return StoreOptions
        .of(Map.of("library", library, "master", master == null ? "loopback:bench" : master.rpcAddress()))
        .segmentBytes(storage == null ? segmentBytes : 0).build();
  }

  /** {@return how a process opens the store of a real Mooncake without memory of its own, to refit it} */
  StoreOptions client() {
    if (master == null) throw new IllegalStateException("no master");
    return StoreOptions.mooncake(master.rpcAddress()).masterAdmin(master.adminUrl().toString()).build();
  }

  /** {@return flags that the Java program takes} */
  List<String> javaFlags() {
    return List.of("--library", library);
  }

  /** {@return flags that the C program takes} */
  List<String> programFlags() {
    List<String> flags = new ArrayList<>(List.of("--library", libraries.getLast().toString(), "--clear-all"));
    for (Path before : libraries.subList(0, libraries.size() - 1))
      flags.addAll(List.of("--preload", before.toString()));
    return flags;
  }

  private Process startStorage() {
    if (master == null) throw new IllegalStateException("no master");
    try {
      Process process = launcher.startJava(StorageProcess.class,
          List.of("--master", master.rpcAddress(), "--segment", Long.toString(segmentBytes)));
      BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
      String line = output.readLine();
      if (StorageProcess.READY.equals(line)) return process;
      process.destroyForcibly();
      throw new IllegalStateException("the storage process did not start: " + line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      if (storage != null) {
        storage.getOutputStream().close(); // it waits for this
        if (!storage.waitFor(STORAGE_END_SECONDS, TimeUnit.SECONDS)) storage.destroyForcibly();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (master != null) master.close();
    }
  }
}
