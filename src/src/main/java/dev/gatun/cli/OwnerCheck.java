package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.TerminalText;
import dev.gatun.codec.KeyOwners;
import java.util.List;

/** Asks whose keys a master has before a command removes them all. */
final class OwnerCheck {
  private OwnerCheck() {}

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
    KeyOwners owners = of(master, force);
    if (owners.areOneAtMost()) return;
    int count = owners.names().size();
    if (!force) {
      throw new CommandException(ExitCode.USAGE, "nothing was removed, since " + (count < 2
          ? "nobody knows whose these are: " + owners
          : count + " owners have keys there: " + owners)
          + "; " + part + " removes one's, --force-global everything");
    }
    System.err.println("gatun: removing the keys of " + count + " owners: " + TerminalText.line(owners.toString()));
  }

  private static KeyOwners of(StoreConnection master, boolean force) {
    try {
      return KeyOwners.of(new MasterReader(master.admin()).keys());
    } catch (CommandException unlisted) {
      if (force) return new KeyOwners(List.of());
      throw unlisted;
    }
  }
}
