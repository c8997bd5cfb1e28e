package dev.gatun.cli.pd;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.connector.BlockTable;
import dev.gatun.connector.ConnectorPlan;
import dev.gatun.connector.FinishedTransfers;
import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.connector.KvConnector;
import dev.gatun.connector.KvConnectors;
import dev.gatun.connector.KvRequest;
import dev.gatun.connector.KvTransferConfig;
import dev.gatun.connector.MooncakeConnector;
import dev.gatun.connector.NixlConnector;
import dev.gatun.connector.P2pOptions;
import dev.gatun.connector.PrefixLookup;
import dev.gatun.connector.RequestEnd;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Sequence;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.refit.RefitPolicy;
import dev.gatun.transfer.TransferEngine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** A small inference host: it computes pages, or takes them over and looks at every byte. One thread. */
final class PdHost implements PdWorker {
  static final WeightEpoch EPOCH = new WeightEpoch("pd", PromptPages.VERSION);
  private static final String LOCALHOST = "127.0.0.1";
  // 10 s: decode is asked for a prompt as soon as prefill has answered, so nobody comes later
  private static final Duration OFFER_MAX = Duration.ofSeconds(10);
  // 3 prompts: one in work, one whose end is not seen yet, one in quarantine after a failure
  private static final int PROMPTS_HELD = 3;

  private final EpochGate gate;
  private final BlockPool pool;
  private final TransferEngine engine;
  private final KvTransferConfig config;
  private final KvConnector connector;
  private final Duration timeout;
  private final Map<String, BlockTable> held = new HashMap<>();
  private final RefitCoordinator coordinator;
  private final @Nullable DevicePrompts device;
  private final @Nullable CarriedPages carried;

  private PdHost(PdSide side, JsonFields settings, String kind, BlockPool pool, @Nullable DevicePrompts device,
      @Nullable CarriedPages carried) {
    this.pool = pool;
    this.device = device;
    this.carried = carried;
    gate = pool.gate();
    timeout = Duration.ofSeconds(settings.number("timeoutSeconds").longValue());
    engine = TransferEngine.open(engineOptions(kind, side), gate);
    coordinator = coordinator(gate);
    P2pOptions options = P2pOptions.loopback("gatun pd").withTimeouts(timeout, OFFER_MAX);
    config = KvTransferConfig.builder()
        .kvConnector(kind.equals(EngineOptions.NIXL) ? NixlConnector.NAME : MooncakeConnector.NAME)
        .kvRole(side.role()).kvBufferDevice(carried instanceof FlatPages ? "cuda" : "cpu").build();
    connector = KvConnectors.over(coordinator).withEngine(engine, options).open(config);
    connector.worker().registerCache(pool);
  }

  /** Prompts that are made and used in host memory. */
  static PdHost inHostMemory(PdSide side, JsonFields settings) {
    return new PdHost(side, settings, settings.text("engine"), hostPool(settings), null, null);
  }

  /** Prompts of a GPU that travel through host memory. */
  static PdHost staged(PdSide side, JsonFields settings, DevicePrompts device) {
    BlockPool pool = hostPool(settings);
    return new PdHost(side, settings, settings.text("engine"), pool, device,
        new StagedPages(device, pool, promptPages(settings)));
  }

  /** Prompts of a GPU that NIXL moves from its memory into the other's. */
  static PdHost flat(PdSide side, JsonFields settings, DevicePrompts device) {
    FlatPages flat = new FlatPages(device, layout(settings), new EpochGate(EPOCH), promptPages(settings));
    return new PdHost(side, settings, EngineOptions.NIXL, flat.pool(), device, flat);
  }

  private static BlockPool hostPool(JsonFields settings) {
    return BlockPool.allocate(layout(settings), new EpochGate(EPOCH));
  }

  private static PoolLayout layout(JsonFields settings) {
    return new PoolLayout(settings.number("pageBytes").longValue(), promptPages(settings) * PROMPTS_HELD);
  }

  private static int promptPages(JsonFields settings) {
    return settings.number("promptPages").intValue();
  }

  static RefitCoordinator coordinator(EpochGate gate) {
    return new RefitCoordinator(gate, List.of(), RefitPolicy.DEFAULT, Observer.NONE);
  }

  private static EngineOptions engineOptions(String kind, PdSide side) {
    return switch (kind) {
      case EngineOptions.LOOPBACK -> EngineOptions.loopback();
      case EngineOptions.MOONCAKE -> EngineOptions.mooncake(LOCALHOST);
      default -> EngineOptions.nixl("gatun-pd-" + side + '-' + ProcessHandle.current().pid());
    };
  }

  @Override
  public Map<String, Object> identity() {
    Map<String, Object> identity = new LinkedHashMap<>();
    identity.put("engineId", config.engineId());
    if (connector instanceof MooncakeConnector push) {
      push.bootstrapPort().ifPresent(port -> identity.put("bootstrap", "http://" + LOCALHOST + ':' + port));
    }
    return identity;
  }

  @Override
  public Map<String, Object> prefill(PromptPages prompt, String transferId) {
    collect();
    KvRequest request = request(prompt, Map.of("do_remote_decode", true, "transfer_id", transferId));
    BlockTable blocks = lease(request);
    if (carried == null) prompt.compute(pool, blocks);
    else
      carried.compute(prompt, blocks);
    RequestEnd end = connector.scheduler().finished(request, blocks, prompt.pages());
    if (end.mayFree()) release(blocks);
    else
      held.put(request.id(), blocks);
    connector.worker().save(connector.scheduler().plan(List.of()));
    return Map.of("params", end.transferParams());
  }

  @Override
  public Map<String, Object> decode(PromptPages prompt, Map<String, Object> params) {
    collect();
    KvRequest request = request(prompt, params);
    long startNanos = System.nanoTime();
    PrefixLookup found = connector.scheduler().lookup(request, 0);
    if (found instanceof PrefixLookup.Failed failed) return answer(prompt, 0, 0, failed.reason());
    BlockTable blocks = lease(request);
    held.put(request.id(), blocks);
    connector.scheduler().allocated(request, blocks, found.blocks());
    ConnectorPlan plan = connector.scheduler().plan(List.of());
    connector.worker().startLoad(plan);
    // the connector itself gives up at its own limit, a little earlier
    connector.worker().awaitLoads(Deadline.after(timeout.multipliedBy(2)));
    String failure = loaded(connector.worker().finished(), request);
    int[] onDevice = carried == null || !failure.isEmpty() ? new int[0] : carried.load(prompt, blocks);
    long nanos = System.nanoTime() - startNanos;
    int wrong = failure.isEmpty() ? wrong(prompt, blocks, onDevice) : 0;
    if (connector.scheduler().finished(request, blocks, 0).mayFree()) release(held.remove(request.id()));
    return answer(prompt, wrong, nanos, failure);
  }

  private int wrong(PromptPages prompt, BlockTable blocks, int[] onDevice) {
    if (device == null) return prompt.wrong(pool, blocks);
    int wrong = device.wrong(onDevice, prompt.prompt(), PromptPages.VERSION);
    device.release(onDevice);
    return wrong;
  }

  private String loaded(FinishedTransfers ended, KvRequest request) {
    for (String free : connector.scheduler().update(ended))
      release(held.remove(free));
    for (Load load : ended.loads()) {
      if (load.request().equals(request.id())) return load.reason();
    }
    return "the load has not ended";
  }

  private static Map<String, Object> answer(PromptPages prompt, int wrong, long nanos, String failure) {
    return Map.of("pages", prompt.pages(), "wrong", wrong, "nanos", nanos, "failure", failure);
  }

  @Override
  public Map<String, Object> blocks() {
    collect();
    return Map.of("blocks", pool.layout().pageCount(), "free", pool.available(), "quarantined", pool.quarantined());
  }

  private void collect() {
    for (String request : connector.scheduler().update(connector.worker().finished()))
      release(held.remove(request));
  }

  private KvRequest request(PromptPages prompt, Map<String, Object> params) {
    return new KvRequest("prompt-" + prompt.prompt(), Sequence.open(gate), prompt.keys(), params);
  }

  private BlockTable lease(KvRequest request) {
    List<Long> leases = new ArrayList<>();
    try {
      for (int i = 0; i < request.keys().size(); i++)
        leases.add(request.sequence().lease(pool));
    } catch (RuntimeException none) {
      leases.forEach(pool::release);
      throw none;
    }
    return BlockTable.of(leases.stream().mapToLong(Long::longValue).toArray());
  }

  private void release(@Nullable BlockTable blocks) {
    LongStream leases = blocks == null ? LongStream.empty() : blocks.stream();
    leases.forEach(pool::release);
  }

  @Override
  public void refit(long version) {
    coordinator.refit(new WeightEpoch(EPOCH.run(), version));
  }

  @Override
  public void close() {
    connector.close();
    engine.close();
    if (carried != null) carried.close();
    pool.close();
  }
}
