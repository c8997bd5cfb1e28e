package dev.gatun.store;

import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** Questions about keys outside a batch. */
final class Questions {
  private final StoreCore core;

  Questions(StoreCore core) {
    this.core = core;
  }

  List<Existence> exists(List<KvKey> asked) {
    List<KvKey> keys = List.copyOf(asked); // others may change it meanwhile
    if (keys.isEmpty()) return List.of();
    if (keys.size() > StoreBatch.CAPACITY_MAX) {
      throw new IllegalArgumentException("keys must be at most " + StoreBatch.CAPACITY_MAX + ": " + keys.size());
    }
    Activity activity = core.activities.open("exists", null);
    try (Arena call = Arena.ofConfined()) { // per call
      BatchEntries entries = new BatchEntries(call, keys.size(), core.codec, core.gate);
      for (KvKey key : keys)
        entries.add(key, 0, 0);
      new ExistenceQuestion(core, entries, activity).ask();
      List<Existence> answers = new ArrayList<>(keys.size());
      for (int i = 0; i < keys.size(); i++)
        answers.add(answer(entries.outcomes[i]));
      return answers;
    } finally {
      core.activities.forget(activity);
    }
  }

  static Existence answer(long outcome) {
    if (outcome < 0) return Existence.UNKNOWN;
    return outcome > 0 ? Existence.PRESENT : Existence.ABSENT;
  }

  SizeResult size(KvKey key) {
    long answer = ask("size", key, core.backend::size);
    if (answer == StoreCode.OBJECT_NOT_FOUND.raw()) return new SizeResult.Absent();
    if (answer < 0) return new SizeResult.Unknown(StoreCode.of(answer), answer);
    return new SizeResult.Known(Math.max(0, answer - core.codec.headerBytes()));
  }

  private long ask(String operation, KvKey key, ToLongFunction<MemorySegment> question) {
    return core.activities.run(operation, 1, activity -> {
      while (true) {
        int ticket = core.enterOrPark(operation, 1, activity);
        if (ticket == StoreCore.DISABLED) return (long) StoreCode.OBJECT_NOT_FOUND.raw();
        try (Arena call = Arena.ofConfined()) { // per call
          WeightEpoch epoch = core.gate.epochIfCurrent(ticket);
          if (epoch != null) return question.applyAsLong(core.encode(key, epoch, call));
        } finally {
          core.gate.exit(ticket);
        }
      }
    });
  }
}
