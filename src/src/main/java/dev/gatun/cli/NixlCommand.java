package dev.gatun.cli;

import dev.gatun.cli.console.ExitCode;
import dev.gatun.nativelib.NixlInstaller;
import dev.gatun.nativelib.NixlRuntime;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Gets NIXL: {@code gatun nixl install}. */
@Command(name = "nixl", description = "Gets NIXL, which moves pages between processes by reading them from their owner.", subcommands = {
    NixlCommand.Install.class})
final class NixlCommand implements Runnable {
  @Option(names = {"-h", "--help"}, usageHelp = true, description = "print this help")
  boolean help;

  @Override
  public void run() {
    throw GatunCommand.usage("a command is missing: install");
  }

  /** {@code gatun nixl install}. */
  @Command(name = "install", description = {
      "Downloads the pinned NIXL package (59 MB, needs python3 with pip) into the user's cache directory and takes the C",
      "interface and the plugins UCX and POSIX out of it. For shared memory, TCP and CUDA; RDMA needs a build of your own,",
      "named by NIXL_LIBRARY. Does nothing if it is there."})
  static final class Install extends GatunCommand {
    @Option(names = "--from", paramLabel = "WHEEL", description = "take this package file instead of downloading; it must be the pinned one, byte for byte")
    @Nullable
    Path wheel;

    @Override
    int run() {
      NixlRuntime runtime = wheel == null
          ? NixlInstaller.install(System.err::println)
          : NixlInstaller.installFrom(wheel, System.err::println);
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("version", runtime.version());
      map.put("root", runtime.root().toString());
      map.put("library", runtime.library().toString());
      answer(map, "NIXL " + runtime.version() + " is installed in " + runtime.root() + System.lineSeparator());
      return ExitCode.OK;
    }
  }
}
