package dev.gatun.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.StoreCode;
import dev.gatun.backend.StoreOptions;
import dev.gatun.store.Existence;
import dev.gatun.store.KvKey;
import dev.gatun.store.Verify;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Page groups through the embedded store, with puts that fail, objects that get lost and gets that fail. */
class PageGroupPropertyTest {
  private static final int PAGE_BYTES = 200;
  private static final int PAGES = 160;

  private String prompt = "";

  @Property(tries = 60)
  @Label("what counting says is there is found; each block of it holds its page, byte by byte, or is named as missing")
  void loadsWhatIsThere(@ForAll @IntRange(min = 1, max = 20) int size,
      @ForAll @Size(min = 1, max = 4) List<@IntRange(min = 1, max = 50) Integer> saved,
      @ForAll @IntRange(max = 50) int asked, @ForAll @DoubleRange(max = 1) double computedPart,
      @ForAll @DoubleRange(max = 0.3) double lost, @ForAll @DoubleRange(max = 0.3) double failing,
      @ForAll boolean stamped, @ForAll @IntRange(min = 1, max = 5) int slots, @ForAll long seed) {
    prompt = "p" + UUID.randomUUID();
    StoreTransferOptions options = StoreTransferOptions.SINGLE_PAGES.withBlocksPerGroup(size)
        .withStagingBytes((long) slots * size * PAGE_BYTES);
    try (Site site = new Site(StoreOptions.loopback("page-groups", 16L << 20),
        stamped ? Site.KEYED.withVerify(Verify.FULL) : Site.KEYED, Site.POLICY, options, PAGE_BYTES, PAGES)) {
      site.backend.answers = (operation, key) -> operation.equals("put") && chance(key, seed, failing)
          ? StoreCode.NO_AVAILABLE_HANDLE.raw()
          : FaultyBackend.AS_IT_IS;
      for (int i = 0; i < saved.size(); i++)
        site.save("w" + i, Site.keys(prompt, saved.get(i)));
      loseSome(site, size, seed, lost);
      site.backend.answers = (operation, key) -> operation.equals("get") && chance(key, seed + 1, failing)
          ? StoreCode.LEASE_EXPIRED.raw()
          : FaultyBackend.AS_IT_IS;
      check(site, size, Site.keys(prompt, asked), (int) (computedPart * asked), seed + 1, failing);
    }
  }

  private void loseSome(Site site, int size, long seed, double lost) {
    List<KvKey> all = Site.keys(prompt, 50);
    List<KvKey> objects = new ArrayList<>(all);
    PageGroups groups = new PageGroups(size);
    for (int group = 0; group < groups.groups(50); group++)
      objects.add(groups.group(all, group).key());
    objects.stream().filter(key -> chance(key.toString(), seed + 2, lost)).forEach(key -> site.store.remove(key, true));
  }

  /** The reference: block by block, whether its group or its single page is in the store. */
  private void check(Site site, int size, List<KvKey> keys, int computed, long seed, double failing) {
    PageGroups groups = new PageGroups(size);
    List<KvKey> from = new ArrayList<>();
    int expected = computed;
    while (expected < keys.size()) {
      int group = expected / size;
      KvKey grouped = group < groups.groups(keys.size()) ? groups.group(keys, group).key() : keys.get(expected);
      if (site.store.exists(grouped) == Existence.PRESENT) from.add(grouped);
      else if (site.store.exists(keys.get(expected)) == Existence.PRESENT) from.add(keys.get(expected));
      else
        break;
      expected++;
    }

    Site.Loaded loaded = site.load(site.request("r", keys), computed);

    assertEquals(new PrefixLookup.Found(expected), loaded.found());
    for (int block = computed; block < expected; block++) {
      String object = from.get(block - computed).toString();
      long lease = loaded.blocks().get(block);
      boolean fails = chance("connector/run/1/" + object, seed, failing);
      assertEquals(fails, loaded.load().missing().contains(block), "block " + block + " of " + object);
      if (!fails) assertTrue(site.holds(lease, keys.get(block), 1), "block " + block);
      else if (from.get(block - computed).equals(keys.get(block)))
        assertThrows(IllegalStateException.class, () -> site.cache.page(lease), "got into, so not readable");
    }
    site.release(loaded.blocks());
    assertEquals(PAGES, site.cache.available());
  }

  /** The same for a key each time. */
  private static boolean chance(String key, long seed, double part) {
    long mixed = (key.chars().asLongStream().reduce(seed, (sum, c) -> sum * 31 + c) ^ seed) * 0x9E3779B97F4A7C15L;
    return (mixed >>> 11) / (double) (1L << 53) < part;
  }
}
