package dev.gatun.cli.pd;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.refit.RefitCoordinator;
import dev.gatun.transfer.device.DeviceOffer;
import dev.gatun.transfer.device.DeviceSender;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/** Prefill whose pages go from its GPU's memory straight into decode's. */
final class SameHostPrefill implements PdWorker {
  // 10 s: decode is asked for a prompt as soon as prefill has answered, so nobody comes later
  private static final Duration OFFER_MAX = Duration.ofSeconds(10);

  private final DevicePrompts prompts;
  private final EpochGate gate;
  private final RefitCoordinator coordinator;
  private final DeviceSender sender;
  private final Map<DeviceOffer, int[]> held = new HashMap<>();

  SameHostPrefill(DevicePrompts prompts, Path socket) {
    this.prompts = prompts;
    gate = new EpochGate(PdHost.EPOCH);
    coordinator = PdHost.coordinator(gate);
    sender = DeviceSender.listen(socket, prompts.cache(), gate);
  }

  @Override
  public Map<String, Object> identity() {
    return Map.of();
  }

  @Override
  public Map<String, Object> prefill(PromptPages prompt, String transferId) {
    collect();
    int[] blocks = prompts.lease(prompt.pages());
    DeviceOffer offer = sender.offer(transferId, blocks,
        prompts.fill(blocks, prompt.prompt(), gate.epoch().version()), OFFER_MAX);
    held.put(offer, blocks);
    return Map.of("params", Map.of("transfer_id", transferId));
  }

  @Override
  public Map<String, Object> decode(PromptPages prompt, Map<String, Object> params) {
    throw new CommandException(ExitCode.FAILED, "prefill takes nothing over");
  }

  /** Blocks of offers that are over may be used again. */
  private void collect() {
    for (Iterator<Map.Entry<DeviceOffer, int[]>> left = held.entrySet().iterator(); left.hasNext();) {
      Map.Entry<DeviceOffer, int[]> entry = left.next();
      if (!entry.getKey().isOver()) continue;
      prompts.release(entry.getValue());
      left.remove();
    }
  }

  @Override
  public Map<String, Object> blocks() {
    collect();
    return Map.of("blocks", prompts.blocks(), "free", prompts.freeBlocks(), "quarantined", 0, "attached",
        sender.attached());
  }

  @Override
  public void refit(long version) {
    coordinator.refit(new WeightEpoch(PdHost.EPOCH.run(), version));
  }

  @Override
  public void close() {
    sender.close();
  }
}
