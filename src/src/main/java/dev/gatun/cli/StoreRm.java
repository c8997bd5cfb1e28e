package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.RemoveResult;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gatun store rm KEY} and {@code gatun store rm --prefix TEXT}. */
@Command(name = "rm", description = {"Removes a key, or all keys that begin with a text.",
    "A key that is not there is as good as removed: exit code 0."})
final class StoreRm extends GatunCommand {
  @Mixin
  StoreConnection connection = new StoreConnection();

  @Parameters(arity = "0..1", paramLabel = "KEY")
  @Nullable
  String key;

  @Option(names = "--prefix", paramLabel = "TEXT", description = "remove all keys that begin with this, literally")
  @Nullable
  String prefix;

  @Option(names = "--force", description = "also what was read moments ago; running reads may then see mixed bytes")
  boolean force;

  @Override
  int run() {
    if ((key == null) == (prefix == null)) throw usage("give either KEY or --prefix TEXT");
    if (prefix != null && prefix.isEmpty())
      throw usage("--prefix must not be empty; to remove everything: gatun store reset");
    if (prefix != null) keyText("--prefix", prefix);
    if (key != null) keyText("KEY", key);
    return withNativeLog(log -> {
      try (KvStore store = connection.open(0)) {
        long removed = prefix != null
            ? store.removePrefix(prefix, force)
            : removeOne(store, KvKey.of(String.valueOf(key)));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("removed", removed);
        answer(map, "removed " + removed + System.lineSeparator());
        return ExitCode.OK;
      }
    });
  }

  private long removeOne(KvStore store, KvKey wanted) {
    return switch (store.remove(wanted, force)) {
      case RemoveResult.Removed removed -> 1;
      case RemoveResult.Absent absent -> 0;
      case RemoveResult.RemoveFailed failed -> throw new CommandException(ExitCode.FAILED, key + " is still there: "
          + failed.code() + " (" + failed.rawCode() + ')' + (failed.retryable() ? "; try later, or --force" : ""));
    };
  }
}
