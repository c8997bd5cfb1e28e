package dev.gatun.cli.pd;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.device.DeviceGrant;
import dev.gatun.transfer.device.DeviceReceiver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Decode into whose GPU's memory prefill writes. */
final class SameHostDecode implements PdWorker {
  /** Prompts of this number and below are of nobody: what stands in blocks that were lent again. */
  private static final long LENT = -1;
  // eighths of the last hand-over after which a refit begins, in turn: before, in and after the next one
  private static final int MOMENTS = 12;

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Lent(int[] blocks, long prompt, long version) {}

  private final DevicePrompts prompts;
  private final EpochGate gate;
  private final RefitCoordinator coordinator;
  private final DeviceReceiver receiver;
  private final Duration timeout;
  private final Map<DeviceGrant, int[]> held = new HashMap<>();
  private final List<Lent> lent = new ArrayList<>();
  private long lastNanos = 1_000_000;
  private long refits;
  private long changed;

  SameHostDecode(DevicePrompts prompts, Path socket, Duration timeout) {
    this.prompts = prompts;
    this.timeout = timeout;
    gate = new EpochGate(PdHost.EPOCH);
    coordinator = PdHost.coordinator(gate);
    receiver = DeviceReceiver.connect(socket, prompts.cache(), gate, Deadline.after(timeout));
  }

  @Override
  public Map<String, Object> identity() {
    return Map.of();
  }

  @Override
  public Map<String, Object> prefill(PromptPages prompt, String transferId) {
    throw new CommandException(ExitCode.FAILED, "decode computes nothing");
  }

  @Override
  public Map<String, Object> decode(PromptPages prompt, Map<String, Object> params) {
    collect();
    WeightEpoch epoch = gate.epoch();
    int[] blocks = prompts.lease(prompt.pages());
    long startNanos = System.nanoTime();
    DeviceGrant grant = receiver.grant(String.valueOf(params.get("transfer_id")), blocks, timeout);
    held.put(grant, blocks);
    boolean refit = Boolean.TRUE.equals(params.get("refit"));
    if (refit) refitDuring();
    HandoverOutcome outcome = grant.await(Deadline.after(timeout));
    long nanos = System.nanoTime() - startNanos;
    if (outcome == HandoverOutcome.COMMITTED) {
      lastNanos = nanos;
      int wrong = prompts.wrong(blocks, prompt.prompt(), epoch.version());
      collect();
      return answer(prompt.pages(), wrong, nanos, "", false);
    }
    if (!refit || outcome != HandoverOutcome.REVOKED) {
      return answer(prompt.pages(), 0, nanos, outcome + ": " + grant.reason(), false);
    }
    if (!grant.awaitOver(Deadline.after(timeout))) return answer(0, 0, nanos, "blocks stay in quarantine", true);
    held.remove(grant);
    lent.add(new Lent(blocks, LENT - refits, gate.epoch().version()));
    prompts.fill(blocks, LENT - refits, gate.epoch().version()); // nothing may change them from now on
    return answer(0, 0, nanos, "", true);
  }

  private void refitDuring() {
    LockSupport.parkNanos(lastNanos * (refits++ % MOMENTS) / 8);
    refit(gate.epoch().version() + 1);
  }

  private Map<String, Object> answer(int pages, int wrong, long nanos, String failure, boolean revoked) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("pages", pages);
    answer.put("wrong", wrong);
    answer.put("nanos", nanos);
    answer.put("failure", failure);
    answer.put("revoked", revoked);
    answer.put("version", gate.epoch().version());
    return answer;
  }

  /** Blocks of grants that are over may be used again; those that were lent again must be as they were made. */
  private void collect() {
    for (Iterator<Map.Entry<DeviceGrant, int[]>> left = held.entrySet().iterator(); left.hasNext();) {
      Map.Entry<DeviceGrant, int[]> entry = left.next();
      if (!entry.getKey().isOver()) continue;
      prompts.release(entry.getValue());
      left.remove();
    }
    for (Lent again : lent) {
      changed += prompts.wrong(again.blocks, again.prompt, again.version);
      prompts.release(again.blocks);
    }
    lent.clear();
  }

  @Override
  public Map<String, Object> blocks() {
    collect();
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("blocks", prompts.blocks());
    state.put("free", prompts.freeBlocks());
    state.put("quarantined", held.values().stream().mapToInt(blocks -> blocks.length).sum());
    state.put("attached", receiver.isSenderGone() ? 0 : 1);
    state.put("changedAfterLease", changed);
    return state;
  }

  @Override
  public void refit(long version) {
    coordinator.refit(new WeightEpoch(PdHost.EPOCH.run(), version));
  }

  @Override
  public void close() {
    receiver.close();
  }
}
