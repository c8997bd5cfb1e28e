package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.codec.GatunKey;
import dev.gatun.codec.KeyLabel;
import java.util.List;

/** Asks whose keys a master has before a command removes them all. */
final class KeyOwners {
  // so many are named, of the rest it is said that there are more
  private static final int NAMED_MAX = 10;

  private KeyOwners() {}

  /**
   * One deployment's own reset needs no more than the command; what several keep there, or somebody unknown, must not go
   * by oversight.
   *
   * @param master asked for its keys
   * @param force says who they belong to instead of refusing, and goes on where they cannot be listed
   * @param part how to remove one's alone, for the message
   * @throws CommandException if they must not be removed, or cannot be listed
   */
  static void requireOne(StoreConnection master, boolean force, String part) {
    List<String> owners = of(master, force);
    boolean unknown = owners.contains(KeyLabel.UNKNOWN_OWNER);
    if (owners.size() < 2 && !unknown) return;
    String named = String.join("; ", owners.subList(0, Math.min(NAMED_MAX, owners.size())))
        + (owners.size() > NAMED_MAX ? "; …" : "");
    if (!force) {
      throw new CommandException(ExitCode.USAGE, "nothing was removed, since " + (owners.size() < 2
          ? "nobody knows whose these are: " + named
          : owners.size() + " owners have keys there: " + named)
          + "; " + part + " removes one's, --force-global everything");
    }
    System.err.println("gatun: removing the keys of " + owners.size() + " owners: " + named);
  }

  private static List<String> of(StoreConnection master, boolean force) {
    try {
      return new MasterReader(master.admin()).keys().stream().filter(key -> !key.startsWith(GatunKey.CANARY))
          .map(KeyLabel::of).map(KeyLabel::owner).distinct().sorted().toList();
    } catch (CommandException unlisted) {
      if (force) return List.of();
      throw unlisted;
    }
  }
}
