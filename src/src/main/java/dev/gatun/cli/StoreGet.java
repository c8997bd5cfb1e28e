package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.store.GetResult;
import dev.gatun.store.KvKey;
import dev.gatun.store.KvStore;
import dev.gatun.store.SizeResult;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gatun store get KEY FILE}. */
@Command(name = "get", description = "Writes the bytes of a key to a file; exits with 1 if there is no such key.")
final class StoreGet extends GatunCommand {
  private static final int CHUNK = 1 << 20;

  @Mixin
  StoreConnection connection = new StoreConnection();

  @Parameters(index = "0", paramLabel = "KEY")
  String key = "";

  @Parameters(index = "1", paramLabel = "FILE", description = "file to write, - for standard output")
  String file = "";

  @Override
  int run() {
    boolean toOutput = file.equals("-");
    if (toOutput && json) throw usage("--json and the bytes cannot both go to standard output; name a FILE");
    KvKey wanted = KvKey.of(keyText("KEY", key));
    return withNativeLog(log -> {
      try (KvStore store = connection.open(0); Arena arena = Arena.ofShared()) {
        MemorySegment value = get(store, wanted, arena);
        write(value, toOutput);
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("key", key);
        map.put("bytes", value.byteSize());
        map.put("file", file);
        if (!toOutput) answer(map, value.byteSize() + " bytes written to " + file + System.lineSeparator());
        return ExitCode.OK;
      }
    });
  }

  private MemorySegment get(KvStore store, KvKey wanted, Arena arena) {
    long bytes = switch (store.size(wanted)) {
      case SizeResult.Known known -> known.bytes();
      case SizeResult.Absent absent -> throw missing();
      case SizeResult.Unknown unknown -> throw failed("size", unknown.code() + " (" + unknown.rawCode() + ')');
    };
    MemorySegment room = arena.allocate(bytes);
    return switch (store.get(wanted, room)) {
      case GetResult.Hit hit -> room.asSlice(0, hit.bytes());
      case GetResult.Miss miss -> throw missing();
      case GetResult.Rejected rejected -> throw failed("get", rejected.reason().toString());
      case GetResult.GetFailed failed -> throw failed("get", failed.code() + " (" + failed.rawCode() + ')');
    };
  }

  private CommandException missing() {
    return new CommandException(ExitCode.FAILED, "no such key: " + key);
  }

  private CommandException failed(String operation, String why) {
    return new CommandException(ExitCode.FAILED, operation + " of " + key + " failed: " + why);
  }

  private void write(MemorySegment value, boolean toOutput) {
    try {
      if (toOutput) write(value, System.out);
      else
        try (OutputStream out = new FileOutputStream(file)) {
          write(value, out);
        }
    } catch (IOException unwritable) {
      throw new CommandException(ExitCode.FAILED, "cannot write " + file + ": " + unwritable.getMessage());
    }
  }

  private static void write(MemorySegment value, OutputStream out) throws IOException {
    byte[] chunk = new byte[CHUNK];
    for (long done = 0; done < value.byteSize();) {
      int bytes = (int) Math.min(CHUNK, value.byteSize() - done);
      MemorySegment.copy(value, ValueLayout.JAVA_BYTE, done, chunk, 0, bytes);
      out.write(chunk, 0, bytes);
      done += bytes;
    }
    out.flush();
  }
}
