package dev.gatun.transfer;

import dev.gatun.backend.EngineInstance;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** The grantee's side of grants that were accepted as they were made: which of them may still begin. Any thread. */
final class AttemptLines {
  /** Of each open line, the greatest number that has begun or was taken back. Guarded by this. */
  private final Map<Long, Long> marks = new HashMap<>();

  synchronized AttemptLine open(String segment, EngineInstance instance) {
    long line;
    do
      line = ThreadLocalRandom.current().nextLong();
    while (marks.putIfAbsent(line, 0L) != null);
    return new AttemptLine(this, new Attempt(segment, instance, line, 1));
  }

  synchronized void close(long line) {
    marks.remove(line);
  }

  /** {@return whether an attempt may begin; neither it nor an earlier one of its line may afterwards} */
  synchronized boolean use(UUID attempt) {
    Long mark = marks.get(attempt.getMostSignificantBits());
    if (mark == null || attempt.getLeastSignificantBits() <= mark) return false;
    marks.put(attempt.getMostSignificantBits(), attempt.getLeastSignificantBits());
    return true;
  }
}
