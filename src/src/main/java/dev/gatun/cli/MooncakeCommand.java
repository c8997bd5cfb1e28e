package dev.gatun.cli;

import dev.gatun.backend.ByteSize;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.Leftovers;
import dev.gatun.nativelib.MasterOptions;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.MooncakeMaster;
import dev.gatun.nativelib.MooncakeRuntime;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Gets and starts a real Mooncake: {@code gatun mooncake install}, {@code gatun mooncake run}. */
@Command(name = "mooncake", description = "Gets and starts a real Mooncake, for trying out and for tests.", subcommands = {
    MooncakeCommand.Install.class, MooncakeCommand.Run.class})
final class MooncakeCommand implements Runnable {
  @Option(names = {"-h", "--help"}, usageHelp = true, description = "print this help")
  boolean help;

  @Override
  public void run() {
    throw GatunCommand.usage("a command is missing: install or run");
  }

  /** {@return the installed runtime} */
  static MooncakeRuntime installed() {
    return MooncakeRuntime.installed().orElseThrow(() -> new CommandException(ExitCode.UNAVAILABLE,
        "the real Mooncake is not installed; run: gatun mooncake install"));
  }

  /** {@code gatun mooncake install}. */
  @Command(name = "install", description = {
      "Downloads the pinned Mooncake package (17 MB, needs python3 with pip and a C compiler) into the user's cache",
      "directory and completes it so that it runs over TCP on any Linux x86-64 machine. Does nothing if it is there."})
  static final class Install extends GatunCommand {
    @Option(names = "--from", paramLabel = "WHEEL", description = "take this package file instead of downloading; it must be the pinned one, byte for byte")
    @Nullable
    Path wheel;

    @Override
    int run() {
      MooncakeRuntime runtime = wheel == null
          ? MooncakeInstaller.install(this::tell)
          : MooncakeInstaller.installFrom(wheel, this::tell);
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("version", runtime.version());
      map.put("root", runtime.root().toString());
      map.put("storeLibrary", runtime.storeLibrary().toString());
      map.put("engineLibrary", runtime.engineLibrary().toString());
      map.put("master", runtime.masterProgram().toString());
      answer(map, "Mooncake " + runtime.version() + " is installed in " + runtime.root() + System.lineSeparator());
      return ExitCode.OK;
    }

    private void tell(String step) {
      System.err.println(step);
    }
  }

  /** {@code gatun mooncake run}. */
  @Command(name = "run", description = {
      "Starts a master and, in this process, a client that gives it memory; runs until interrupted.",
      "Prints the addresses. Anybody who reaches the ports may use them: they listen on the loopback interface only,",
      "but the library's own transfer ports listen on all."})
  static final class Run extends GatunCommand {
    @Option(names = "--segment", paramLabel = "SIZE", description = "memory for the store, 16m or more; default: ${DEFAULT-VALUE}")
    String segment = "1g";

    @Option(names = "--rpc-port", paramLabel = "PORT", description = "port for stores, 0 for a free one; default: ${DEFAULT-VALUE}")
    int rpcPort = 50_051;

    @Option(names = "--admin-port", paramLabel = "PORT", description = "port for administration over HTTP, 0 for a free one; default: ${DEFAULT-VALUE}")
    int adminPort = 9_003;

    @Override
    int run() {
      long segmentBytes = ByteSize.parse("--segment", segment);
      MasterOptions options = MasterOptions.DEFAULT.withPorts(rpcPort, adminPort);
      try (MooncakeMaster master = MooncakeMaster.start(installed(), options)) {
        Leftovers.add(master, master::close);
        return withNativeLog(log -> {
          try (KvStore store = open(master, segmentBytes)) {
            Leftovers.add(store, store::close); // later than the master, so it is closed before
            announce(master, store.hostname(), segmentBytes, log);
            String last = master.awaitEnd(); // or until this process is told to end
            if (!Leftovers.ending()) System.err.println("gatun: the master ended; the end of its log:\n" + last);
            return ExitCode.FAILED;
          }
        });
      }
    }

    private static KvStore open(MooncakeMaster master, long segmentBytes) {
      StoreOptions options = StoreOptions.mooncake(master.rpcAddress()).masterAdmin(master.adminUrl().toString())
          .localHostname("127.0.0.1").segmentBytes(segmentBytes).build();
      return KvStore.open(options, KeyCodec.verbatim(), new EpochGate(new WeightEpoch("storage", 0)), Observer.NONE);
    }

    private void announce(MooncakeMaster master, String segmentName, long segmentBytes, Path log) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("master", master.rpcAddress());
      map.put("admin", master.adminUrl().toString());
      map.put("segment", segmentName);
      map.put("segmentBytes", segmentBytes);
      map.put("masterPid", master.pid());
      map.put("storagePid", ProcessHandle.current().pid());
      map.put("masterLog", master.logFile().toString());
      map.put("storageLog", log.toString());
      answer(map, """
          master   %s
          admin    %s
          memory   %s from this process, segment %s
          logs     %s (master), %s (storage)
          try      gatun store ls --master %s --admin %s
          stop     Ctrl-C
          """.formatted(master.rpcAddress(), master.adminUrl(), ByteSize.format(segmentBytes), segmentName,
          master.logFile(), log,
          master.rpcAddress(), master.adminUrl()));
    }
  }
}
