package dev.gatun.cli.pd;

import dev.gatun.backend.EngineOptions;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.transfer.device.DeviceCapabilities;
import dev.gatun.transfer.device.DevicePath;
import dev.gatun.transfer.device.NixlTrial;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How a side comes to be: in one step with pages in host memory, in two with pages on a GPU, between which a path is chosen. */
final class PdOpening implements AutoCloseable {
  // 3 prompts: one in work, one whose end is not seen yet, one in quarantine after a failure
  private static final int PROMPTS_HELD = 3;

  private @Nullable JsonFields settings;
  private @Nullable DevicePrompts prompts;

  /** {@return a side with pages in host memory} */
  PdWorker host(JsonFields argument) {
    return PdHost.inHostMemory(PdSide.of(argument.text("side")), argument);
  }

  /** Opens the GPU. {@return what the side can do with its memory} */
  Map<String, Object> device(JsonFields argument) {
    settings = argument;
    DevicePrompts opened = new DevicePrompts(PdSide.of(argument.text("side")), PdDevice.of(argument.object("device")),
        argument.number("promptPages").intValue(), PROMPTS_HELD);
    prompts = opened;
    DeviceCapabilities capabilities = DeviceCapabilities.of(opened.gpu(), "it was not tried", argument.text("engine"));
    return Map.of("capabilities", capabilities.map(), "gpu", opened.gpu().toString());
  }

  /** Loads NIXL and lets it look at the GPU. {@return why it cannot move its memory, if it cannot} */
  Map<String, Object> tryNixl() {
    DevicePrompts opened = prompts;
    JsonFields given = settings;
    if (given == null || opened == null) throw new IllegalStateException("not open: " + PdProtocol.TRY_NIXL);
    String agent = "gatun-trial-" + given.text("side") + '-' + ProcessHandle.current().pid();
    return Map.of("missing", NixlTrial.missing(opened.gpu(), EngineOptions.nixl(agent)));
  }

  /** {@return the side, once a path was chosen; to be closed before this} */
  PdWorker connect(JsonFields argument) {
    JsonFields given = settings;
    DevicePrompts opened = prompts;
    if (given == null || opened == null) throw new IllegalStateException("not open: connect");
    return connect(given, opened, argument);
  }

  private static PdWorker connect(JsonFields settings, DevicePrompts prompts, JsonFields argument) {
    PdSide side = PdSide.of(settings.text("side"));
    DevicePath path = DevicePath.of(argument.text("path"));
    Path socket = Path.of(argument.text("socket"));
    Duration timeout = Duration.ofSeconds(settings.number("timeoutSeconds").longValue());
    return switch (path) {
      case SAME_HOST -> side == PdSide.PREFILL
          ? new SameHostPrefill(prompts, socket)
          : new SameHostDecode(prompts, socket, timeout);
      case STAGED -> PdHost.staged(side, settings, prompts);
      case NIXL -> PdHost.flat(side, settings, prompts);
    };
  }

  @Override
  public void close() {
    DevicePrompts opened = prompts;
    if (opened != null) opened.close();
  }
}
