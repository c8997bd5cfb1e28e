package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreOptions;
import dev.gatun.refit.RefitOutcome;
import dev.gatun.store.Existence;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvKey;
import dev.gatun.store.Verify;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a store connector must do on every library. */
abstract class StoreConnectorContract {
  static final int PAGE_BYTES = 4096;
  static final StoreTransferOptions GROUPS = StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(4);

  private final Deque<Site> open = new ArrayDeque<>();
  /** Another in each test, since all of them meet in one store. */
  private final String prompt = "prompt-" + UUID.randomUUID();

  private List<KvKey> keys(int blocks) {
    return Site.keys(prompt, blocks);
  }

  /** {@return options of a client; all clients of a test meet in one pool} */
  abstract StoreOptions options();

  @AfterEach
  void close() {
    while (!open.isEmpty())
      open.pop().close();
  }

  Site site(KeyCodec codec, StoreTransferOptions connecting) {
    return site(codec, connecting, PAGE_BYTES);
  }

  Site site(KeyCodec codec, StoreTransferOptions connecting, long pageBytes) {
    Site site = new Site(options(), codec, Site.POLICY, connecting, pageBytes, 128);
    open.push(site);
    return site;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 7, 64})
  @DisplayName("what one replica saves another finds by its prefix and loads, byte by byte, in groups of any size")
  void savesFindsLoads(int blocksPerGroup) {
    StoreTransferOptions options = GROUPS.withBlocksPerGroup(blocksPerGroup);
    Site writer = site(Site.KEYED, options);
    Site reader = site(Site.KEYED, options);
    List<KvKey> keys = keys(23);
    assertTrue(writer.save("w", keys).stream().allMatch(FinishedTransfers.Save::complete));

    Site.Loaded loaded = reader.load(reader.request("r", keys), 0);

    assertEquals(new PrefixLookup.Found(23), loaded.found());
    assertTrue(loaded.load().complete(), loaded.load()::toString);
    for (int i = 0; i < keys.size(); i++)
      assertTrue(reader.holds(loaded.blocks().get(i), keys.get(i), 1), "block " + i);
    assertEquals(23, writer.workerCount("blocks_saved"));
    reader.release(loaded.blocks());
  }

  @Test
  @DisplayName("a group is stored only when its last block is computed, what follows it when the request ends")
  void groupsArePublishedWhole() {
    Site site = site(Site.KEYED, GROUPS);
    List<KvKey> keys = keys(10);
    KvRequest request = site.request("r", keys);
    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(request, 0));
    BlockTable three = site.compute(request, BlockTable.EMPTY, 3);
    site.step(new ScheduledRequest(request, three, 3));
    assertTrue(site.finish().saves().isEmpty());
    BlockTable nine = site.compute(request, three, 9);
    site.step(new ScheduledRequest(request, nine, 9));
    site.connector.scheduler().update(site.finish());
    PageGroups groups = new PageGroups(4);

    assertEquals(Existence.PRESENT, site.store.exists(groups.group(keys, 0).key()));
    assertEquals(Existence.PRESENT, site.store.exists(groups.group(keys, 1).key()));
    assertEquals(List.of(Existence.ABSENT, Existence.ABSENT), site.store.exists(List.of(keys.get(0), keys.get(8))));
    assertFalse(site.connector.scheduler().finished(request, nine, 9).mayFree());
    site.step();
    assertEquals(List.of("r"), site.connector.scheduler().update(site.finish()));
    assertEquals(Existence.PRESENT, site.store.exists(keys.get(8)));
    site.release(nine);
  }

  @Test
  @DisplayName("single pages behind the last group become part of a group when a longer request fills it, and stay")
  void singlesGrowIntoGroups() {
    Site site = site(Site.KEYED, GROUPS);
    site.save("short", keys(6));

    List<KvKey> longer = keys(8);
    KvRequest request = site.request("long", longer);
    Site.Loaded loaded = site.load(request, 0);
    assertEquals(new PrefixLookup.Found(6), loaded.found());
    BlockTable blocks = site.compute(request, loaded.blocks(), 8);
    site.step(new ScheduledRequest(request, blocks, 8));
    site.connector.scheduler().update(site.finish());

    assertEquals(Existence.PRESENT, site.store.exists(new PageGroups(4).group(longer, 1).key()));
    assertEquals(Existence.PRESENT, site.store.exists(longer.get(4)), "a prefix that ends here still needs it");
    assertTrue(site.connector.scheduler().finished(request, blocks, 8).mayFree(), "nothing is left to save");
    site.release(blocks);
  }

  @Test
  @DisplayName("of a group that is read whole only the wanted blocks are written, from inside a group to inside another")
  void partsOfGroups() {
    Site site = site(Site.KEYED, GROUPS);
    List<KvKey> keys = keys(12);
    site.save("w", keys);
    KvRequest request = site.request("r", keys);
    assertEquals(new PrefixLookup.Found(12), site.connector.scheduler().lookup(request, 3));
    BlockTable own = site.compute(request, BlockTable.EMPTY, 3);
    BlockTable blocks = BlockTable.of(LongStream.concat(own.stream(), site.lease(request, 7).stream()).toArray());
    site.connector.scheduler().allocated(request, blocks, 10);
    site.step();
    FinishedTransfers done = site.finish();

    assertTrue(done.loads().getFirst().complete(), done::toString);
    for (int i = 0; i < 10; i++)
      assertTrue(site.holds(blocks.get(i), keys.get(i), 1), "block " + i);
    site.release(blocks);
  }

  @Test
  @DisplayName("a group with a lost object is not part of the prefix; what arrives is named block by block")
  void lostGroup() {
    Site site = site(Site.KEYED, GROUPS);
    List<KvKey> keys = keys(14);
    site.save("w", keys);
    KvRequest request = site.request("r", keys);
    assertEquals(14, site.connector.scheduler().lookup(request, 0).blocks());
    assertTrue(site.store.remove(new PageGroups(4).group(keys, 1).key(), true).gone());
    BlockTable blocks = site.lease(request, 14);
    site.connector.scheduler().allocated(request, blocks, 14);
    site.step();
    FinishedTransfers done = site.finish();

    assertEquals(List.of(4, 5, 6, 7), done.loads().getFirst().missing());
    assertTrue(done.loads().getFirst().reason().contains("OBJECT_NOT_FOUND"), done::toString);
    site.connector.scheduler().update(done);
    for (int i : List.of(0, 3, 8, 13))
      assertTrue(site.holds(blocks.get(i), keys.get(i), 1), "block " + i);
    assertEquals(new PrefixLookup.Found(4), site.connector.scheduler().lookup(site.request("s", keys), 0));
    // computed anew, the group is saved again
    for (int i = 4; i < 8; i++)
      Site.fill(site.cache.rewrite(blocks.get(i)), keys.get(i), 1);
    site.step(new ScheduledRequest(request, blocks, 14));
    site.connector.scheduler().update(site.finish());
    assertEquals(new PrefixLookup.Found(14), site.connector.scheduler().lookup(site.request("t", keys), 0));
    site.release(blocks);
  }

  @Test
  @DisplayName("what earlier requests of the same prompt saved is not saved again")
  void savesOnce() {
    Site site = site(Site.KEYED, GROUPS);
    site.save("a", keys(11));
    int puts = site.backend.batchPuts.get();
    List<KvKey> keys = keys(11);
    KvRequest request = site.request("b", keys);
    site.connector.scheduler().lookup(request, 8);
    BlockTable own = site.compute(request, BlockTable.EMPTY, 11);
    site.step(new ScheduledRequest(request, own, 11));

    assertTrue(site.connector.scheduler().finished(request, own, 11).mayFree());
    assertEquals(puts, site.backend.batchPuts.get());
    site.release(own);
  }

  @Test
  @DisplayName("stamped pages and groups load as they were saved")
  void stamped() {
    Site site = site(Site.PLAIN.withVerify(Verify.FULL), GROUPS);
    List<KvKey> keys = keys(9);
    site.save("w", keys);
    Site.Loaded loaded = site.load(site.request("r", keys), 0);
    assertTrue(loaded.load().complete(), loaded.load()::toString);
    for (int i = 0; i < 9; i++)
      assertTrue(site.holds(loaded.blocks().get(i), keys.get(i), 1));
    site.release(loaded.blocks());
  }

  @Test
  @DisplayName("K10.09 K17.06 a value shorter than the page is no hit, and its block holds nothing usable")
  void otherSize() {
    Site small = site(Site.KEYED, StoreTransferOptions.SINGLE_PAGES, PAGE_BYTES / 2);
    Site site = site(Site.KEYED, StoreTransferOptions.SINGLE_PAGES);
    List<KvKey> keys = keys(2);
    small.save("w", keys);

    Site.Loaded loaded = site.load(site.request("r", keys), 0);

    assertEquals(List.of(0, 1), loaded.load().missing());
    assertEquals(2, site.workerCount("blocks_of_other_size"));
    assertThrows(IllegalStateException.class, () -> site.cache.page(loaded.blocks().get(0)));
    site.release(loaded.blocks());
  }

  @Test
  @DisplayName("S1.3 S1.7 a reset goes from both sides to one forced removal of the store, verified, and each side reports")
  void cascade() {
    Site site = site(Site.PLAIN, GROUPS);
    List<KvKey> keys = keys(6);
    site.save("w", keys);
    site.store.exists(keys.get(5)); // a lease does not protect it

    ResetReport scheduler = site.connector.scheduler().resetCache(Site.epoch(2));
    int removals = site.backend.removals.get();
    ResetReport worker = site.connector.worker().resetCache(Site.epoch(2));

    assertEquals(ResetReport.Outcome.RESET, scheduler.outcome(), scheduler::toString);
    assertEquals(ResetReport.Outcome.RESET, worker.outcome(), worker::toString);
    assertEquals(ConnectorSide.SCHEDULER, scheduler.side());
    assertEquals(ConnectorSide.WORKER, worker.side());
    assertEquals(RefitOutcome.VERIFIED, scheduler.refit().orElseThrow().outcome());
    assertEquals(scheduler.refit(), worker.refit());
    assertEquals(removals, site.backend.removals.get(), "the second side removes nothing more");
    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("r", keys), 0));
    assertEquals(1, site.connector.scheduler().stats().count("resets"));
    assertEquals(2, site.connector.scheduler().stats().count("weight_version"));
  }

  @Test
  @DisplayName("S1.5 K1.15 four replicas reset one master at once: all succeed, whoever removed the pages")
  void replicas() throws Exception {
    List<Site> sites = IntStream.range(0, 4).mapToObj(i -> site(Site.KEYED, GROUPS)).toList();
    List<KvKey> keys = keys(9);
    sites.getFirst().save("w", keys);
    List<ResetReport> reports = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<ResetReport>> resets = sites.stream()
          .map(site -> threads.submit(() -> site.connector.scheduler().resetCache(Site.epoch(2)))).toList();
      for (Future<ResetReport> reset : resets)
        reports.add(reset.get());
    }
    for (Site site : sites)
      reports.add(site.connector.worker().resetCache(Site.epoch(2)));

    assertTrue(reports.stream().allMatch(ResetReport::succeeded), reports::toString);
    for (Site site : sites)
      assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("r", keys), 0));
  }

  @Test
  @DisplayName("K10.05 pages of an earlier epoch cannot be found or loaded, also when the removal did nothing")
  void epochs() {
    Site old = site(Site.KEYED, GROUPS);
    Site site = new Site(options(), Site.KEYED, Site.POLICY.withRequired(RefitOutcome.ISOLATED), GROUPS, PAGE_BYTES,
        64);
    open.push(site);
    List<KvKey> keys = keys(6);
    assertTrue(site.connector.scheduler().resetCache(Site.epoch(2)).succeeded());
    old.save("late", keys); // another replica's, after the removal

    assertEquals(new PrefixLookup.Found(0), site.connector.scheduler().lookup(site.request("r", keys), 0));
    site.save("new", keys);
    Site.Loaded loaded = site.load(site.request("s", keys), 0);
    assertEquals(6, loaded.found().blocks());
    for (int i = 0; i < 6; i++)
      assertTrue(site.holds(loaded.blocks().get(i), keys.get(i), 2), "block " + i);
    site.release(loaded.blocks());
  }

  @Test
  @DisplayName("random prompts that share prefixes, with objects lost at random: what is found loads byte by byte")
  void randomPrompts() {
    Random random = new Random(20_26);
    for (int round = 0; round < 12; round++) {
      int size = 1 + random.nextInt(9);
      Site site = site(Site.KEYED, GROUPS.withBlocksPerGroup(size).withStagingBytes(3L * PAGE_BYTES * size));
      String shared = prompt + "-round" + round;
      for (int i = 0; i < 3; i++)
        site.save("w" + i, Site.keys(shared, 1 + random.nextInt(40)));
      List<KvKey> keys = Site.keys(shared, 40);
      PageGroups groups = new PageGroups(size);
      IntStream.range(0, groups.groups(40)).filter(g -> random.nextInt(5) == 0)
          .forEach(g -> site.store.remove(groups.group(keys, g).key(), true));
      keys.stream().filter(key -> random.nextInt(5) == 0).forEach(key -> site.store.remove(key, true));
      int computed = random.nextInt(10);

      KvRequest request = site.request("r", keys);
      Site.Loaded loaded = site.load(request, computed);

      assertInstanceOf(PrefixLookup.Found.class, loaded.found());
      assertTrue(loaded.load().complete(), loaded.load()::toString);
      for (int i = computed; i < loaded.found().blocks(); i++)
        assertTrue(site.holds(loaded.blocks().get(i), keys.get(i), 1), "round " + round + " block " + i);
      site.release(loaded.blocks());
      open.remove(site);
      site.close();
    }
  }
}
