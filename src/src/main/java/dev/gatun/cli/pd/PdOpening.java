package dev.gatun.cli.pd;

import dev.gatun.cli.console.JsonFields;
import dev.gatun.transfer.device.DeviceCapabilities;
import dev.gatun.transfer.device.DevicePath;
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
    return new PdHost(PdSide.of(argument.text("side")), argument, null);
  }

  /** Opens the GPU. {@return what the side can do with its memory} */
  Map<String, Object> device(JsonFields argument) {
    settings = argument;
    DevicePrompts opened = new DevicePrompts(PdSide.of(argument.text("side")), PdDevice.of(argument.object("device")),
        argument.number("promptPages").intValue(), PROMPTS_HELD);
    prompts = opened;
    DeviceCapabilities capabilities = DeviceCapabilities.of(opened.gpu(),
        "NIXL with device memory is not wired into this command", argument.text("engine"));
    return Map.of("capabilities", capabilities.map(), "gpu", opened.gpu().toString());
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
      case STAGED -> new PdHost(side, settings, prompts);
      case NIXL -> throw new IllegalArgumentException("path nixl is not wired into this command");
    };
  }

  @Override
  public void close() {
    DevicePrompts opened = prompts;
    if (opened != null) opened.close();
  }
}
