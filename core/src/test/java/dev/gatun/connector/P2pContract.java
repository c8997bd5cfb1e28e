package dev.gatun.connector;

import static dev.gatun.connector.P2pHost.EPOCH;
import static dev.gatun.connector.P2pHost.compute;
import static dev.gatun.connector.P2pHost.wrong;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.HostPort;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.testing.Await;
import dev.gatun.transfer.Lines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Hand-overs between a prefill and a decode host, by push and by pull, over one kind of engine. */
abstract class P2pContract {
  private static final int BLOCKS = 64;
  private static final P2pOptions OPTIONS = P2pOptions.loopback("test model");
  private static final WeightEpoch NEXT = new WeightEpoch("run", 2);
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final List<P2pHost> hosts = new ArrayList<>();

  abstract EngineOptions engine();

  private void open(P2pConnector kind, P2pOptions decodeOptions) {
    hosts.add(new P2pHost(kind, KvRole.PRODUCER, engine(), OPTIONS, BLOCKS));
    hosts.add(new P2pHost(kind, KvRole.CONSUMER, engine(), decodeOptions, BLOCKS));
  }

  private P2pHost prefill() {
    return hosts.getFirst();
  }

  private P2pHost decode() {
    return hosts.getLast();
  }

  @AfterEach
  void close() {
    hosts.reversed().forEach(P2pHost::close);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("S3.4 every page of a request arrives, and prefill may free its blocks once it has")
  void handsOver(P2pConnector kind) {
    open(kind, OPTIONS);
    for (int round = 0; round < 3; round++) {
      KvRequest from = prefill().request("p" + round, 20, Map.of("do_remote_decode", true, "transfer_id", "x" + round));
      BlockTable computed = prefill().lease(from);
      compute(prefill().pool, computed, round);
      RequestEnd end = prefill().offer(from, computed);
      assertFalse(end.mayFree());
      KvRequest to = decode().request("d" + round, 20, passedOn(kind, end, "x" + round));
      BlockTable room = decode().lease(to);
      FinishedTransfers.Load load = decode().load(to, room);
      assertTrue(load.complete(), load::reason);
      assertEquals(0, wrong(decode().pool, room, round));
      prefill().awaitSaves();
      assertEquals(List.of("p" + round), prefill().freed);
      prefill().freed.clear();
      prefill().release(computed);
      decode().release(room);
    }
    assertEquals(60, decode().connector.worker().stats().count("blocks_loaded"));
    Await.until("a last answer has come", () -> decode().connector.worker().stats().count("connections_kept") > 0);
    decode().connector.close();
    Await.until("decode closes its connections",
        () -> prefill().connector.worker().stats().count("connections_open") == 0);
    assertEquals(BLOCKS, prefill().pool.available());
    assertEquals(BLOCKS, decode().pool.available());
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("S3.4 only the blocks that decode has not computed itself are taken over")
  void partOfIt(P2pConnector kind) {
    open(kind, OPTIONS);
    KvRequest from = prefill().request("p", 10, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    compute(prefill().pool, computed, 7);
    Map<String, ?> params = passedOn(kind, prefill().offer(from, computed), "x");
    KvRequest to = decode().request("d", 10, params);
    BlockTable room = decode().lease(to);
    compute(decode().pool, room, 7);
    assertEquals(new PrefixLookup.Found(10), decode().connector.scheduler().lookup(to, 4));
    decode().connector.scheduler().allocated(to, room, 10);
    decode().connector.worker().startLoad(decode().connector.scheduler().plan(List.of()));
    assertTrue(decode().connector.worker().awaitLoads(Deadline.after(LIMIT)));
    decode().collect();
    assertTrue(decode().loads.getFirst().complete(), decode().loads.getFirst()::reason);
    assertEquals(0, wrong(decode().pool, room, 7));
    assertEquals(6, decode().connector.worker().stats().count("blocks_loaded"));
    prefill().awaitSaves();
    prefill().release(computed);
    decode().release(room);
  }

  @Test
  @DisplayName("S3.4 decode may grant room before prefill is done: the push waits for its offer")
  void grantFirst() {
    open(P2pConnector.MOONCAKE, OPTIONS);
    KvRequest from = prefill().request("p", 4, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    KvRequest to = decode().request("d", 4, passedOn(P2pConnector.MOONCAKE, RequestEnd.NOW, "x"));
    BlockTable room = decode().lease(to);
    decode().startLoad(to, room);
    compute(prefill().pool, computed, 3);
    prefill().offer(from, computed);
    assertTrue(decode().connector.worker().awaitLoads(Deadline.after(LIMIT)));
    decode().collect();
    assertTrue(decode().loads.getFirst().complete(), decode().loads.getFirst()::reason);
    assertEquals(0, wrong(decode().pool, room, 3));
    prefill().awaitSaves();
    prefill().release(computed);
    decode().release(room);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("K7.04 K7.06 what prefill never offers fails at the deadline; the room is taken back and free again")
  void neverOffered(P2pConnector kind) {
    open(kind, OPTIONS.withTimeouts(Duration.ofMillis(300), LIMIT));
    Map<String, ?> params = kind == P2pConnector.MOONCAKE
        ? passedOn(kind, RequestEnd.NOW, "x")
        : TransferParams.forPull("p", prefill().config.engineId(), prefill().worker(), 4);
    KvRequest to = decode().request("d", 4, params);
    BlockTable room = decode().lease(to);
    FinishedTransfers.Load load = decode().load(to, room);
    assertEquals(List.of(0, 1, 2, 3), load.missing());
    assertTrue(load.reason().contains("did not answer"), load::reason);
    decode().release(room);
    await("the room is free", () -> decode().pool.available() == BLOCKS);
    if (kind == P2pConnector.NIXL) return;
    KvRequest late = prefill().request("p", 4, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(late);
    prefill().offer(late, computed);
    prefill().awaitSaves();
    assertEquals(List.of("p"), prefill().freed);
    // decode's word comes before the offer or after it
    assertTrue(prefill().saves.getFirst().reason().matches(".*(given up before|gave it up).*"),
        prefill().saves::toString);
    prefill().release(computed);
  }

  @Test
  @DisplayName("K7.06 room that was granted on a kept connection and given up comes back, and an offer after it is not pushed")
  void givenUpOnAKeptConnection() {
    open(P2pConnector.MOONCAKE, OPTIONS.withTimeouts(Duration.ofSeconds(2), LIMIT));
    KvRequest from = prefill().request("p", 4, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    compute(prefill().pool, computed, 3);
    prefill().offer(from, computed);
    KvRequest to = decode().request("d", 4, passedOn(P2pConnector.MOONCAKE, RequestEnd.NOW, "x"));
    BlockTable room = decode().lease(to);
    assertTrue(decode().load(to, room).complete());
    await("the connection is kept", () -> decode().connector.worker().stats().count("connections_kept") == 1);
    KvRequest next = decode().request("e", 4, passedOn(P2pConnector.MOONCAKE, RequestEnd.NOW, "y"));
    BlockTable other = decode().lease(next);
    FinishedTransfers.Load load = decode().load(next, other);
    assertTrue(load.reason().contains("did not answer"), load::reason);
    assertEquals(0, decode().connector.worker().stats().count("connections_kept"), "it was of no use any more");
    decode().release(other);
    await("the room is free", () -> decode().pool.available() == BLOCKS - 4);
    KvRequest late = prefill().request("q", 4, Map.of("do_remote_decode", true, "transfer_id", "y"));
    BlockTable offered = prefill().lease(late);
    prefill().offer(late, offered);
    prefill().awaitSaves();
    assertEquals(4, prefill().saves.getLast().failedBlocks());
    decode().release(room);
    prefill().release(computed);
    prefill().release(offered);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("pages of another epoch are refused with both epochs, and no block counts as loaded")
  void otherEpoch(P2pConnector kind) {
    open(kind, OPTIONS);
    KvRequest from = prefill().request("p", 4, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    compute(prefill().pool, computed, 1);
    Map<String, ?> params = passedOn(kind, prefill().offer(from, computed), "x");
    assertTrue(decode().connector.worker().resetCache(NEXT).succeeded());
    KvRequest to = decode().request("d", 4, params);
    BlockTable room = decode().lease(to);
    FinishedTransfers.Load load = decode().load(to, room);
    assertEquals(List.of(0, 1, 2, 3), load.missing());
    assertTrue(load.reason().contains("epoch run@2 is wanted, weights here are run@1"), load::reason);
    decode().release(room);
    await("the room is free", () -> decode().pool.available() == BLOCKS);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("K10.08 another layout is refused with both")
  void otherLayout(P2pConnector kind) {
    open(kind, P2pOptions.loopback("another model"));
    KvRequest from = prefill().request("p", 2, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    compute(prefill().pool, computed, 1);
    KvRequest to = decode().request("d", 2, passedOn(kind, prefill().offer(from, computed), "x"));
    BlockTable room = decode().lease(to);
    FinishedTransfers.Load load = decode().load(to, room);
    decode().release(room);
    prefill().awaitSaves(); // decode has given it up
    assertEquals(List.of("p"), prefill().freed);
    prefill().release(computed);
    assertTrue(load.reason().contains("\"pages of 8192 bytes, another model\" is wanted, here \"pages of 8192 bytes, "
        + "test model\""), load::reason);
  }

  @Test
  @DisplayName("K7.07 pages that are being read when prefill is reset are not confirmed, and prefill has them back at once")
  void resetWhileRead() throws Exception {
    open(P2pConnector.NIXL, OPTIONS);
    KvRequest from = prefill().request("p", 2, Map.of("do_remote_decode", true));
    BlockTable computed = prefill().lease(from);
    compute(prefill().pool, computed, 1);
    Object id = prefill().offer(from, computed).transferParams().get("remote_request_id");
    Deadline deadline = Deadline.after(LIMIT);
    try (PeerConnection peer = PeerConnection.open(prefill().worker(), deadline)) {
      PeerMessage answer = peer
          .ask(new PeerMessage.Ask(String.valueOf(id), "pages of 8192 bytes, test model", EPOCH, 0, 2,
              Lines.ATTEMPT), deadline);
      assertTrue(answer instanceof PeerMessage.Pages pages && pages.grant().blocks() == 2, answer::toString);
      assertTrue(prefill().connector.scheduler().resetCache(NEXT).succeeded());
    }
    prefill().awaitSaves();
    assertEquals(List.of("p"), prefill().freed);
    assertFalse(prefill().saves.getFirst().complete(), prefill().saves::toString);
    prefill().release(computed);
    assertEquals(BLOCKS, prefill().pool.available());
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("K7.05 K7.06 blocks that no decode asks for are free again after their time, also while saves are awaited")
  void expires(P2pConnector kind) {
    Map<String, Object> extra = kind == P2pConnector.NIXL ? Map.of("kv_lease_duration", 0.001) : Map.of();
    hosts.add(new P2pHost(kind, KvRole.PRODUCER, engine(), OPTIONS.withTimeouts(LIMIT, Duration.ofMillis(1)), BLOCKS,
        extra));
    KvRequest from = prefill().request("p", 2, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    assertFalse(prefill().offer(from, computed).mayFree());
    prefill().awaitSaves();
    assertEquals(List.of("p"), prefill().freed);
    assertEquals(2, prefill().saves.getFirst().failedBlocks());
    assertTrue(prefill().saves.getFirst().reason().contains("no decode asked"), prefill().saves::toString);
    prefill().release(computed);
  }

  /** How far decode comes with a request before it drops it. */
  enum Dropped {
    UNSEEN,
    LOOKED_UP,
    NOTHING_TO_LOAD,
    NOT_PLANNED
  }

  @ParameterizedTest(name = "{0}, {1}")
  @CsvSource({"MOONCAKE, UNSEEN", "MOONCAKE, LOOKED_UP", "MOONCAKE, NOTHING_TO_LOAD", "MOONCAKE, NOT_PLANNED",
      "NIXL, UNSEEN", "NIXL, LOOKED_UP", "NIXL, NOTHING_TO_LOAD", "NIXL, NOT_PLANNED"})
  @DisplayName("K7.06 a request that decode ends without its KV is given up once, and prefill has its blocks at once")
  void givenUp(P2pConnector kind, Dropped dropped) {
    open(kind, OPTIONS);
    KvRequest from = prefill().request("p", 2, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    KvRequest to = decode().request("d", 2, passedOn(kind, prefill().offer(from, computed), "x"));
    BlockTable room = decode().lease(to);
    SchedulerConnector scheduler = decode().connector.scheduler();
    if (dropped != Dropped.UNSEEN) assertEquals(new PrefixLookup.Found(2), scheduler.lookup(to, 0));
    if (dropped == Dropped.NOTHING_TO_LOAD) scheduler.allocated(to, room, 0);
    if (dropped == Dropped.NOT_PLANNED) scheduler.allocated(to, room, 2);
    assertTrue(scheduler.finished(to, room, 0).mayFree());
    decode().connector.worker().startLoad(scheduler.plan(List.of()));
    prefill().awaitSaves();
    assertEquals(List.of("p"), prefill().freed);
    assertTrue(prefill().saves.getFirst().reason().contains("gave it up"), prefill().saves::toString);
    assertEquals(1, decode().connector.worker().stats().count("give_ups"));
    assertTrue(scheduler.plan(List.of()).isEmpty());
    prefill().release(computed);
    decode().release(room);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("a hand-over takes place once: it is not found again, nor offered again, nor waited for")
  void once(P2pConnector kind) {
    open(kind, OPTIONS);
    Map<String, Object> prefilling = Map.of("do_remote_decode", true, "transfer_id", "x");
    KvRequest from = prefill().request("p", 2, prefilling);
    BlockTable computed = prefill().lease(from);
    compute(prefill().pool, computed, 1);
    Map<String, ?> params = passedOn(kind, prefill().offer(from, computed), "x");
    KvRequest to = decode().request("d", 2, params);
    BlockTable room = decode().lease(to);
    assertTrue(decode().load(to, room).complete());
    assertEquals(new PrefixLookup.Found(0), decode().connector.scheduler().lookup(to, 0));
    prefill().awaitSaves();
    assertEquals(List.of("p"), prefill().freed);
    // another request that names the same transfer
    KvRequest late = decode().request("e", 2, params);
    BlockTable other = decode().lease(late);
    FinishedTransfers.Load load = decode().load(late, other);
    assertTrue(load.reason().contains("or is over"), load::reason);
    // the same request again: of its own transfer if that has an id of its own, refused if the router's comes twice
    prefill().offer(from, computed);
    if (kind == P2pConnector.MOONCAKE) {
      prefill().awaitSaves();
      assertEquals("transfer x is over", prefill().saves.getLast().reason());
    } else {
      assertFalse(prefill().connector.worker().awaitSaves(Deadline.after(Duration.ZERO)), "offered");
    }
    prefill().release(computed);
    decode().release(room);
    decode().release(other);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("what was not planned yet when a reset came is forgotten, and its blocks are let go once")
  void resetBeforeThePlan(P2pConnector kind) {
    open(kind, OPTIONS);
    KvRequest from = prefill().request("p", 2, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    SchedulerConnector scheduler = prefill().connector.scheduler();
    assertFalse(scheduler.finished(from, computed, 2).mayFree());
    // the refit need not come through this side
    assertTrue(prefill().connector.worker().resetCache(NEXT).succeeded());
    assertTrue(scheduler.plan(List.of()).isEmpty());
    assertEquals(List.of("p"), scheduler.update(FinishedTransfers.NONE));
    assertEquals(List.of(), scheduler.update(FinishedTransfers.NONE));
    prefill().release(computed);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("what a router sends malformed concerns its request alone: it ends, and the others are handed over")
  void malformed(P2pConnector kind) {
    open(kind, OPTIONS);
    List<Map<String, Object>> malformed = new ArrayList<>(List.of(Map.of("do_remote_decode", "maybe"),
        Map.of("do_remote_decode", List.of())));
    if (kind == P2pConnector.MOONCAKE) {
      malformed.add(Map.of("do_remote_decode", true));
      malformed.add(Map.of("do_remote_decode", true, "transfer_id", 7));
    }
    KvRequest good = prefill().request("good", 1, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(good);
    assertFalse(prefill().connector.scheduler().finished(good, computed, 1).mayFree());
    for (Map<String, Object> params : malformed) {
      KvRequest bad = prefill().request("bad", 1, params);
      assertTrue(prefill().connector.scheduler().finished(bad, computed, 1).mayFree(), params::toString);
    }
    assertEquals(malformed.size(), prefill().connector.scheduler().stats().count("ends_malformed"));
    assertEquals(1, P2pPlan.of(prefill().connector.scheduler().plan(List.of())).offers().size());
    KvRequest bad = decode().request("bad", 1, Map.of("do_remote_prefill", true));
    assertTrue(decode().connector.scheduler().finished(bad, BlockTable.EMPTY, 0).mayFree());
    prefill().release(computed);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("a router's nulls are the same as nothing")
  void nulls(P2pConnector kind) {
    open(kind, OPTIONS);
    Map<String, @Nullable Object> params = new HashMap<>();
    for (String field : List.of("do_remote_prefill", "remote_engine_id", "remote_block_ids", "remote_host",
        "remote_port", "remote_bootstrap_addr", "remote_request_id"))
      params.put(field, null);
    params.put("do_remote_decode", true);
    params.put("transfer_id", "x");
    KvRequest from = prefill().request("p", 1, params);
    BlockTable computed = prefill().lease(from);
    assertEquals(new PrefixLookup.Found(0), prefill().connector.scheduler().lookup(from, 0));
    assertFalse(prefill().offer(from, computed).mayFree());
    params.put("do_remote_prefill", true);
    assertTrue(
        decode().connector.scheduler().lookup(decode().request("d", 1, params), 0) instanceof PrefixLookup.Failed);
    Map<String, @Nullable Object> answer = new HashMap<>(params);
    assertEquals(answer, new RequestEnd(true, answer).transferParams());
    prefill().release(computed);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', nullValues = "-", value = {
      "remote_port | - | must be given: absent", "remote_port | 0 | must be a whole number from 1 to 65535: \"0\"",
      "remote_port | 65536 | must be a whole number", "remote_host | 0.0.0.0 | must be where the engine is reached",
      "remote_host | :: | must be where the engine is reached"})
  @DisplayName("a place at which no engine can be reached fails the lookup by its field; nobody connects to port 0")
  void unreachable(String field, @Nullable String value, String rule) {
    hosts.add(new P2pHost(P2pConnector.NIXL, KvRole.CONSUMER, engine(), OPTIONS, BLOCKS));
    Map<String, @Nullable Object> params = new HashMap<>(
        TransferParams.forPull("p", "e", new HostPort("127.0.0.1", 1), 4));
    params.put(field, value);
    PrefixLookup found = decode().connector.scheduler().lookup(decode().request("d", 4, params), 0);
    assertTrue(found instanceof PrefixLookup.Failed failed
        && failed.reason().startsWith("kv_transfer_params." + field + ' ' + rule), found::toString);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(P2pConnector.class)
  @DisplayName("S1.7 both sides of a connector reset, each reports, and what was offered before ends")
  void bothSidesReset(P2pConnector kind) {
    open(kind, OPTIONS);
    KvRequest from = prefill().request("p", 2, Map.of("do_remote_decode", true, "transfer_id", "x"));
    BlockTable computed = prefill().lease(from);
    compute(prefill().pool, computed, 1);
    prefill().offer(from, computed);
    for (ResetReport report : List.of(prefill().connector.scheduler().resetCache(NEXT),
        prefill().connector.worker().resetCache(NEXT))) {
      assertTrue(report.succeeded(), report::toString);
      assertEquals(kind.connectorName(), report.connector());
    }
    assertEquals(NEXT, prefill().gate.epoch());
    prefill().collect();
    assertEquals(List.of("p"), prefill().freed);
    assertThrows(IllegalArgumentException.class, () -> prefill().connector.scheduler().resetCache(EPOCH));
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"transfer_id", "remote_engine_id", "remote_bootstrap_addr"})
  @DisplayName("a request that lacks a parameter is no miss: the lookup fails and names it")
  void missingParameter(String missing) {
    open(P2pConnector.MOONCAKE, OPTIONS);
    Map<String, Object> params = new HashMap<>(passedOn(RequestEnd.NOW));
    params.remove(missing);
    PrefixLookup found = decode().connector.scheduler().lookup(decode().request("d", 2, params), 0);
    assertEquals(new PrefixLookup.Failed(0, "kv_transfer_params." + missing + " must be given: absent"), found);
  }

  @Test
  @DisplayName("requests that are not handed over have nothing to load and nothing to wait for")
  void ordinaryRequests() {
    open(P2pConnector.MOONCAKE, OPTIONS);
    KvRequest request = prefill().request("r", 2, Map.of());
    BlockTable blocks = prefill().lease(request);
    assertEquals(new PrefixLookup.Found(1), prefill().connector.scheduler().lookup(request, 1));
    assertTrue(prefill().connector.scheduler().finished(request, blocks, 2).mayFree());
    assertTrue(prefill().connector.scheduler().plan(List.of()).isEmpty());
    prefill().release(blocks);
  }

  @Test
  @DisplayName("an engine that the bootstrap service does not know is named, and so is a service that is not there")
  void unknownEngine() {
    open(P2pConnector.MOONCAKE, OPTIONS.withTimeouts(Duration.ofSeconds(5), LIMIT));
    Map<String, Object> params = new HashMap<>(passedOn(RequestEnd.NOW));
    params.put("remote_engine_id", "nobody");
    KvRequest to = decode().request("d", 2, params);
    BlockTable room = decode().lease(to);
    FinishedTransfers.Load load = decode().load(to, room);
    assertTrue(load.reason().contains("knows no worker of engine nobody"), load::reason);
    String service = "http://127.0.0.1:" + prefill().bootstrapPort();
    prefill().connector.close();
    KvRequest again = decode().request("e", 2, passedOnTo("gone", service));
    FinishedTransfers.Load gone = decode().load(again, decode().lease(again));
    assertTrue(gone.reason().startsWith("bootstrap service http://127.0.0.1:"), gone::reason);
  }

  /** What the router gives decode(). */
  private Map<String, ? extends @Nullable Object> passedOn(P2pConnector kind, RequestEnd end, String transferId) {
    if (kind == P2pConnector.NIXL) return end.transferParams();
    return Map.of("do_remote_prefill", true, "do_remote_decode", false, "transfer_id", transferId, "remote_engine_id",
        prefill().config.engineId(), "remote_bootstrap_addr", "http://127.0.0.1:" + prefill().bootstrapPort());
  }

  private Map<String, Object> passedOn(RequestEnd end) {
    assertTrue(end.transferParams().isEmpty());
    return passedOnTo(prefill().config.engineId(), "http://127.0.0.1:" + prefill().bootstrapPort());
  }

  private static Map<String, Object> passedOnTo(String engine, String bootstrap) {
    return Map.of("do_remote_prefill", true, "transfer_id", "y", "remote_engine_id", engine, "remote_bootstrap_addr",
        bootstrap);
  }

  private static void await(String what, BooleanSupplier condition) {
    Deadline deadline = Deadline.after(LIMIT);
    while (!condition.getAsBoolean()) {
      if (deadline.reached()) throw new AssertionError(what + ": not within " + LIMIT);
      LockSupport.parkNanos(1_000_000);
    }
  }
}
