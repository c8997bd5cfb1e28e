package dev.gatun.connector;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A running vllm-router. Started as its own command does, through its argument parser and its {@code Router}, without the
 * two Python packages that only the command's process title and its debugging balancer need.
 */
final class RouterProcess implements AutoCloseable {
  private static final String COMMAND = """
      import argparse, sys
      from vllm_router.router_args import RouterArgs
      from vllm_router.router import Router
      parser = argparse.ArgumentParser()
      RouterArgs.add_cli_args(parser)
      args = RouterArgs.from_cli_args(parser.parse_args(sys.argv[1:]))
      args._validate_router_args()
      Router.from_args(args).start()
      """;

  private final Process process;
  private final Path folder;
  private final Path log;

  private RouterProcess(Process process, Path folder, Path log) {
    this.process = process;
    this.folder = folder;
    this.log = log;
  }

  static RouterProcess start(List<String> commandLine) throws IOException, InterruptedException {
    Path folder = RouterPackage.unpacked();
    Path log = folder.resolve("router.log");
    List<String> words = new ArrayList<>(List.of("python3", "-c", COMMAND));
    words.addAll(commandLine);
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("PYTHONPATH", folder.toAbsolutePath().toString());
    // a proxy of the machine's must not come between two loopback addresses
    builder.environment().put("NO_PROXY", "127.0.0.1");
    return new RouterProcess(builder.start(), folder, log);
  }

  boolean isAlive() {
    return process.isAlive();
  }

  String output() throws IOException {
    return Files.readString(log);
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList())
        Files.delete(file);
    }
  }
}
