package dev.gatun.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.StoreCode;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.refit.RefitPolicy.OtherClients;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a reset of a part of a master removes, leaves, and may claim, on a scripted master. */
class NamespaceResetTest {
  private static final WeightEpoch ANY = new WeightEpoch("run", 0);
  private static final RefitPolicy QUICK = RefitPolicy.DEFAULT.withOtherClients(OtherClients.FENCED)
      .withDeadline(Duration.ofMillis(400)).withPassesMax(3);
  private static final List<String> OTHERS = List.of("foreign/app@key1", "chatter/run/1/x", "ch", "other//x");

  private final FakeMaster master = new FakeMaster("http://master");
  private final FakeStore store = new FakeStore("store", master, new EpochGate(ANY), false);

  private NamespaceReset reset(RefitPolicy policy) {
    return new NamespaceReset(store, policy);
  }

  private void put(String... keys) {
    for (String key : keys)
      master.put(key, ANY);
  }

  private List<String> keys() {
    return master.keys(Integer.MAX_VALUE, Deadline.after(Duration.ofSeconds(1)));
  }

  private void putOthers() {
    put(OTHERS.toArray(String[]::new));
  }

  @Test
  @DisplayName("K16 a namespace goes, others' keys stay, and it is VERIFIED by list and canary though the count is not 0")
  void leavesOthers() {
    putOthers();
    put("chat/run/1/a", "chat/run/2/b", "chat//c");

    NamespaceReport report = reset(QUICK).namespace("chat");

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(OTHERS, keys());
    assertEquals(4, report.removed(), "three pages and the canary");
    assertEquals(4, report.others());
    assertEquals(List.of(), report.reasons());
  }

  @Test
  @DisplayName("K2 epochs below one go, in one namespace and run only; versions are numbers, not texts")
  void collectsOldEpochs() {
    putOthers();
    put("chat/run/2/a", "chat/run/9/b", "chat/run/10/c", "chat/run/11/d", "chat/ran/1/e", "chat//f", "chat/run/x/g",
        "chat/run/012/h", "chat/run/99999999999999999999/i", "chat/run/3/é\u0001");

    NamespaceReport report = reset(QUICK).below("chat", new WeightEpoch("run", 10));

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(Stream.concat(OTHERS.stream(), Stream.of("chat/run/10/c", "chat/run/11/d", "chat/ran/1/e", "chat//f",
        "chat/run/x/g", "chat/run/012/h", "chat/run/99999999999999999999/i")).toList(), keys());
  }

  @Test
  @DisplayName("K10 the keys of engines with a cache prefix go by that prefix, taken literally")
  void removesByPrefix() {
    String tail = "@tiny-llama@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" + "5a".repeat(32);
    put("n.1" + tail, "nx1" + tail);

    NamespaceReport report = reset(QUICK).prefix("n.1@");

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(List.of("nx1" + tail), keys());
  }

  @Test
  @DisplayName("K1 a put in flight is not in the list: counted and not listed, so nothing is VERIFIED")
  void putInFlight() {
    putOthers();
    put("chat//a");
    master.putStart("chat//b", ANY);

    NamespaceReport report = reset(QUICK).namespace("chat");

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertTrue(report.reasons().getFirst().contains("counts 5 objects and lists 4"), report::text);
  }

  @Test
  @DisplayName("K1 a put in flight that lands is removed by the next pass")
  void putLands() {
    master.putStart("chat//b", ANY);
    master.script.passes("keys").does("keys", () -> master.putEnd("chat//b"));

    NamespaceReport report = reset(QUICK.withDeadline(Duration.ofSeconds(30))).namespace("chat");

    assertEquals(RefitOutcome.VERIFIED, report.outcome(), report::text);
    assertEquals(List.of(), keys());
  }

  @Test
  @DisplayName("others who never pause: no still moment, so UNVERIFIED; of old epochs, ISOLATED")
  void busyMaster() {
    for (int i = 0; i < 1000; i++) {
      String key = "busy/" + i;
      master.script.does("keys", () -> put(key));
    }
    put("chat//a", "chat/run/1/a");

    NamespaceReport whole = reset(QUICK).namespace("chat");
    NamespaceReport old = reset(QUICK).below("chat", new WeightEpoch("run", 2));

    assertEquals(RefitOutcome.UNVERIFIED, whole.outcome(), whole::text);
    assertTrue(whole.reasons().getFirst().contains("counters moved whenever it was listed"), whole::text);
    assertEquals(RefitOutcome.ISOLATED, old.outcome(), old::text);
  }

  @Test
  @DisplayName("a removal that fails, or leaves keys, is FAILED; of old epochs it is ISOLATED; leftovers are named")
  void failedRemoval() {
    put("chat/run/1/a");
    store.script.answers("removePrefix", StoreCode.RPC_FAIL.raw());
    NamespaceReport failed = reset(QUICK).namespace("chat");
    store.script.answers("removePrefix", 0).answers("removePrefix", 0).answers("removePrefix", 0);
    NamespaceReport left = reset(QUICK).namespace("chat");
    store.script.answers("removePrefix", StoreCode.RPC_FAIL.raw());
    NamespaceReport old = reset(QUICK).below("chat", new WeightEpoch("run", 2));

    assertEquals(RefitOutcome.FAILED, failed.outcome());
    assertTrue(failed.reasons().getFirst().contains("RPC_FAIL (-900)"), failed::text);
    assertEquals(RefitOutcome.FAILED, left.outcome());
    assertTrue(left.leftovers().contains("chat/run/1/a"), left::text);
    assertTrue(left.reasons().contains("the canary survived the removal"), left::text);
    assertEquals(RefitOutcome.ISOLATED, old.outcome());
  }

  @Test
  @DisplayName("the administration of another master, none, a dead one, a changed one: never VERIFIED")
  void witnesses() {
    put("chat//a");
    store.withCensusOf(new FakeMaster("http://another"));
    assertReason("does not show the canary", reset(QUICK).namespace("chat"));
    store.withoutCensus();
    assertReason("no census", reset(QUICK).namespace("chat"));
    assertThrows(IllegalStateException.class, () -> reset(QUICK).below("chat", new WeightEpoch("run", 2)));
    FakeStore fresh = new FakeStore("store", master, new EpochGate(ANY), false);
    master.script.answers("keys", 1);
    assertReason("the census could not be read", new NamespaceReset(fresh, QUICK).namespace("chat"));
    master.script.passes("keys").does("keys", () -> master.role("standby"));
    assertReason("the master changed", new NamespaceReset(fresh, QUICK).namespace("chat"));
    master.uncounted("objects on disk");
    assertReason("objects on disk", new NamespaceReset(fresh, QUICK).namespace("chat"));
  }

  @Test
  @DisplayName("clients of the namespace whom nobody stops, doubts of the store, a store without room: never VERIFIED")
  void doubts() {
    assertReason("nobody stops them", reset(QUICK.withOtherClients(OtherClients.UNFENCED)).namespace("chat"));
    store.doubting("a cache of another client");
    assertReason("a cache of another client", reset(QUICK).namespace("chat"));
    master.space(false);
    assertReason("no space for a canary", reset(QUICK).namespace("chat"));
  }

  @Test
  @DisplayName("K8 a removal that hangs ends at the deadline, and the report says that it may run late")
  void hangs() {
    CountDownLatch thawed = new CountDownLatch(1);
    put("chat/run/1/a", "chat/run/2/b");
    store.script.hangs("removePrefix", thawed, 0);
    NamespaceReset reset = reset(QUICK);

    NamespaceReport report = reset.below("chat", new WeightEpoch("run", 9));

    thawed.countDown();
    assertEquals(RefitOutcome.ISOLATED, report.outcome(), report::text);
    assertTrue(report.reasons().getFirst().contains("may run late"), report::text);
    reset.namespace("other"); // runs once the one that hung has ended
    assertTrue(keys().containsAll(List.of("chat/run/1/a", "chat/run/2/b")), "nothing is removed after the report");
    assertEquals(RefitOutcome.FAILED, hung().outcome());
  }

  private NamespaceReport hung() {
    CountDownLatch thawed = new CountDownLatch(1);
    store.script.hangs("removePrefix", thawed, 0);
    NamespaceReport report = reset(QUICK).namespace("chat");
    thawed.countDown();
    return report;
  }

  @Test
  @DisplayName("K1 a key with a line end is listed as two, which must not stand for a put in flight: not VERIFIED")
  void splitKeys() {
    put("foreign\nkey");
    master.putStart("chat//b", ANY);

    NamespaceReport report = reset(QUICK).namespace("chat");

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertTrue(report.reasons().getFirst().contains("a line that is no key it knows"), report::text);
  }

  @Test
  @DisplayName("K1 a key of two equal lines is no proof either")
  void doubledLines() {
    put("ns//a\nns//a");
    master.putStart("chat//b", ANY);

    NamespaceReport report = reset(QUICK).namespace("chat");

    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertTrue(report.reasons().getFirst().contains("lists a key twice"), report::text);
  }

  @Test
  @DisplayName("what is no namespace, no prefix, no epoch is refused before anything is sent")
  void refusals() {
    for (Runnable call : List.<Runnable>of(() -> reset(QUICK).namespace(""), () -> reset(QUICK).namespace("a/b"),
        () -> reset(QUICK).prefix(""), () -> reset(QUICK).below("chat", new WeightEpoch("run", 0)),
        () -> reset(QUICK).below("*", new WeightEpoch("run", 1))))
      assertThrows(IllegalArgumentException.class, call::run);
    assertEquals(0, master.count());
  }

  private static void assertReason(String reason, NamespaceReport report) {
    assertEquals(RefitOutcome.UNVERIFIED, report.outcome(), report::text);
    assertTrue(report.reasons().stream().anyMatch(line -> line.contains(reason)), report::text);
  }
}
