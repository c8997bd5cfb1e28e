package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochGate;
import dev.gatun.memory.Sequence;
import dev.gatun.store.Existence;
import dev.gatun.store.KvKey;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

/** The longest prefix that a store has, held against counting block by block. */
class PrefixQueryTest {
  /** What a store answers, by key. */
  private final Map<KvKey, Existence> store = new HashMap<>();
  private int asked;

  @Property(tries = 3000)
  @Label("the prefix is as long as counting block by block says, whatever is there, absent or unknown")
  void matchesCounting(@ForAll @IntRange(max = 300) int blocks, @ForAll @IntRange(min = 1, max = 40) int size,
      @ForAll @DoubleRange(max = 1) double computedPart, @ForAll @DoubleRange(max = 1) double groupsThere,
      @ForAll @DoubleRange(max = 1) double singlesThere, @ForAll @DoubleRange(max = 0.1) double unknown,
      @ForAll long seed) {
    PageGroups groups = new PageGroups(size);
    List<KvKey> keys = Site.keys("p", blocks);
    int computed = (int) (computedPart * blocks);
    fill(groups, keys, new Random(seed), groupsThere, singlesThere, unknown);

    PrefixCover cover = new PrefixQuery(groups, keys, computed, this::exists).run().join();

    int expected = computed;
    while (expected < blocks && isThere(groups, keys, expected))
      expected++;
    // a group that begins before may reach over a gap of single pages, and is counted whole
    assertEquals(expected, cover.blocks(), "length");
    assertEquals(expected < blocks && isUnknown(groups, keys, expected), !cover.failure().isEmpty(), cover.failure());
    int stored = 0;
    while (stored < expected && isThere(groups, keys, stored))
      stored++;
    assertEquals(stored, cover.stored(), "what need not be saved");
    checkObjects(groups, cover, computed);
  }

  private void checkObjects(PageGroups groups, PrefixCover cover, int computed) {
    int covered = computed;
    for (PageObject object : cover.objects()) {
      assertTrue(object.first() <= covered && object.end() > covered, "gap before " + object);
      assertEquals(Existence.PRESENT, store.get(object.key()), object::toString);
      assertEquals(object.isGroup() ? groups.size() : 1, object.blocks());
      if (object.isGroup()) assertEquals(0, object.first() % groups.size());
      covered = object.end();
    }
    assertEquals(cover.blocks(), covered);
    assertTrue(cover.overlapping(computed, cover.blocks()).equals(cover.objects()));
  }

  @Property(tries = 300)
  @Label("what is there in groups alone costs one question, and a miss two")
  void questions(@ForAll @IntRange(min = 1, max = 20) int groupCount, @ForAll @IntRange(min = 2, max = 16) int size) {
    PageGroups groups = new PageGroups(size);
    List<KvKey> keys = Site.keys("p", groupCount * size);
    fill(groups, keys, new Random(1), 1, 0, 0);

    assertEquals(keys.size(), new PrefixQuery(groups, keys, 0, this::exists).run().join().blocks());
    assertEquals(1, asked);
    store.clear();
    assertEquals(0, new PrefixQuery(groups, keys, 0, this::exists).run().join().blocks());
    assertEquals(3, asked);
  }

  @Property(tries = 500)
  @Label("K10.02 a request saves under the very keys that a later one looks up, however it grows")
  void savesWhatIsLookedUp(@ForAll @IntRange(min = 1, max = 24) int size,
      @ForAll List<@IntRange(max = 30) Integer> steps,
      @ForAll @IntRange(max = 60) int storedBefore) {
    PageGroups groups = new PageGroups(size);
    int blocks = storedBefore + steps.stream().mapToInt(Integer::intValue).sum();
    KvRequest request = new KvRequest("r", Sequence.open(
        new EpochGate(Site.epoch(1))), Site.keys("p", blocks));
    PageGroups.singles(request.keys(), 0, storedBefore).forEach(object -> store.put(object.key(), Existence.PRESENT));
    TrackedRequest tracked = new TrackedRequest(groups);
    tracked.stored(storedBefore);
    int computed = storedBefore;
    HashSet<KvKey> saved = new HashSet<>();
    for (int step : steps) {
      computed += step;
      for (PageObject object : tracked.take(request, computed, false)) {
        assertTrue(object.end() <= computed, () -> object + " is not computed yet");
        assertTrue(saved.add(object.key()), () -> object + " is saved twice");
      }
    }
    for (PageObject object : tracked.take(request, computed, true))
      assertTrue(saved.add(object.key()), () -> object + " is saved twice");
    saved.forEach(key -> store.put(key, Existence.PRESENT));

    assertEquals(blocks, new PrefixQuery(groups, request.keys(), 0, this::exists).run().join().blocks());
  }

  private void fill(PageGroups groups, List<KvKey> keys, Random random, double groupsThere, double singlesThere,
      double unknown) {
    store.clear();
    asked = 0;
    for (int group = 0; group < groups.groups(keys.size()); group++)
      store.put(groups.group(keys, group).key(), answer(random, groupsThere, unknown));
    for (KvKey key : keys)
      store.put(key, answer(random, singlesThere, unknown));
  }

  private static Existence answer(Random random, double there, double unknown) {
    if (random.nextDouble() < unknown) return Existence.UNKNOWN;
    return random.nextDouble() < there ? Existence.PRESENT : Existence.ABSENT;
  }

  private boolean isThere(PageGroups groups, List<KvKey> keys, int block) {
    return single(keys, block) == Existence.PRESENT || group(groups, keys, block) == Existence.PRESENT;
  }

  private boolean isUnknown(PageGroups groups, List<KvKey> keys, int block) {
    return single(keys, block) == Existence.UNKNOWN || group(groups, keys, block) == Existence.UNKNOWN;
  }

  private Existence single(List<KvKey> keys, int block) {
    return store.getOrDefault(keys.get(block), Existence.ABSENT);
  }

  private Existence group(PageGroups groups, List<KvKey> keys, int block) {
    int group = block / groups.size();
    if (group >= groups.groups(keys.size())) return Existence.ABSENT;
    return store.getOrDefault(groups.group(keys, group).key(), Existence.ABSENT);
  }

  private CompletableFuture<List<Existence>> exists(List<KvKey> keys) {
    asked++;
    assertEquals(keys.size(), new HashSet<>(keys).size(), "each key once");
    return CompletableFuture.completedFuture(
        keys.stream().map(key -> store.getOrDefault(key, Existence.ABSENT)).toList());
  }
}
