package dev.gatun.store;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.backend.ReplicateOptions;
import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreCensus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;

/**
 * A library that answers what a test tells it to, for answers that no working library gives. It moves no bytes: what
 * stores do with working libraries is in the contract.
 */
final class ScriptedBackend implements StoreBackend {
  /** Answer for the entry of a batch put with this key. */
  ToLongFunction<String> putAnswer = key -> 0;
  /** Answer for the entry of a batch get with this key. */
  ToLongFunction<String> getAnswer = key -> -704;
  ToLongFunction<String> existsAnswer = key -> 0;
  /** Code of a batch call as a whole, by its number from 0. */
  LongFunction<Integer> callCode = call -> 0;
  /** Code of every other call that answers one. */
  int otherCode;
  /** What runs inside each call, with its name. */
  Consumer<String> inside = call -> {};
  List<String> doubts = List.of();
  List<String> pendingAtClose = List.of();

  final List<String> keysSeen = new ArrayList<>();
  final List<Integer> countsSeen = new ArrayList<>();
  final List<Long> sizesSeen = new ArrayList<>();
  final List<Long> registeredBytes = new ArrayList<>();
  RegistrationAdvice advice = RegistrationAdvice.NONE;
  int unregistered;
  int closes;
  private int calls;
  private boolean closing;

  private static String text(MemorySegment column, int index) {
    return MemorySegment.ofAddress(column.getAtIndex(ValueLayout.JAVA_LONG, index)).reinterpret(2048).getString(0);
  }

  private int batch(String name, MemorySegment keys, int count, Consumer<Integer> answer) {
    inside.accept(name);
    countsSeen.add(count);
    int code = callCode.apply(calls++);
    if (code != 0) return code;
    for (int i = 0; i < count; i++) {
      keysSeen.add(text(keys, i));
      answer.accept(i);
    }
    return 0;
  }

  @Override
  public String name() {
    return "scripted";
  }

  @Override
  public String hostname() {
    return "127.0.0.1:1";
  }

  @Override
  public int put(MemorySegment key, MemorySegment value, long bytes, MemorySegment replicate) {
    inside.accept("put");
    keysSeen.add(key.getString(0));
    sizesSeen.add(bytes);
    return otherCode;
  }

  @Override
  public int batchPut(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment replicate,
      MemorySegment codes) {
    return batch("batchPut", keys, count, i -> {
      sizesSeen.add(sizes.getAtIndex(ValueLayout.JAVA_LONG, i));
      codes.setAtIndex(ValueLayout.JAVA_INT, i, (int) putAnswer.applyAsLong(text(keys, i)));
    });
  }

  @Override
  public long get(MemorySegment key, MemorySegment page, long bytes) {
    inside.accept("get");
    keysSeen.add(key.getString(0));
    return otherCode;
  }

  @Override
  public int batchGet(MemorySegment keys, MemorySegment pages, MemorySegment sizes, int count, MemorySegment results) {
    return batch("batchGet", keys, count, i -> {
      sizesSeen.add(sizes.getAtIndex(ValueLayout.JAVA_LONG, i));
      results.setAtIndex(ValueLayout.JAVA_LONG, i, getAnswer.applyAsLong(text(keys, i)));
    });
  }

  @Override
  public int exists(MemorySegment key) {
    inside.accept("exists");
    keysSeen.add(key.getString(0));
    return otherCode;
  }

  @Override
  public int batchExists(MemorySegment keys, int count, MemorySegment answers) {
    return batch("batchExists", keys, count,
        i -> answers.setAtIndex(ValueLayout.JAVA_INT, i, (int) existsAnswer.applyAsLong(text(keys, i))));
  }

  @Override
  public long size(MemorySegment key) {
    inside.accept("size");
    keysSeen.add(key.getString(0));
    return otherCode;
  }

  @Override
  public int remove(MemorySegment key, boolean force) {
    inside.accept("remove");
    keysSeen.add(key.getString(0));
    return otherCode;
  }

  @Override
  public long removeMatching(MemorySegment pattern, boolean force) {
    inside.accept("removeMatching");
    keysSeen.add(pattern.getString(0));
    return otherCode;
  }

  @Override
  public long removeAll(boolean force) {
    inside.accept("removeAll");
    return otherCode;
  }

  @Override
  public int register(MemorySegment memory) {
    inside.accept("register");
    if (otherCode == 0) registeredBytes.add(memory.byteSize());
    return otherCode;
  }

  @Override
  public RegistrationAdvice registrationAdvice() {
    return advice;
  }

  @Override
  public int unregister(MemorySegment memory) {
    if (closing) throw new ClosedException("unregister refused: the scripted store is closed");
    inside.accept("unregister");
    if (otherCode == 0) unregistered++;
    return otherCode;
  }

  @Override
  public int health() {
    return 0;
  }

  @Override
  public MemorySegment encodeReplicate(ReplicateOptions options, Arena arena) {
    return arena.allocate(32, 8);
  }

  @Override
  public Optional<StoreCensus> census() {
    return Optional.empty();
  }

  @Override
  public List<String> doubts() {
    return doubts;
  }

  @Override
  public List<String> close(Deadline deadline) {
    closing = true; // as the real ones: nothing passes any more, whether or not this close comes to an end
    if (pendingAtClose.isEmpty()) closes++;
    return pendingAtClose;
  }

  @Override
  public void close() {
    closes++;
  }
}
