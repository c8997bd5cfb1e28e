package dev.gatun.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Looks at and changes a store: {@code gatun store put|get|ls|stat|rm|reset}. */
@Command(name = "store", description = "Looks at and changes the objects of a Mooncake store.", subcommands = {
    StorePut.class, StoreGet.class, StoreLs.class, StoreStat.class, StoreRm.class, StoreReset.class})
final class StoreCommand implements Runnable {
  @Option(names = {"-h", "--help"}, usageHelp = true, description = "print this help")
  boolean help;

  @Override
  public void run() {
    throw GatunCommand.usage("a command is missing: put, get, ls, stat, rm or reset");
  }
}
