package dev.gatun.cli.pd;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.transfer.device.DeviceCapabilities;
import dev.gatun.transfer.device.DevicePath;
import dev.gatun.transfer.device.PathChoice;
import dev.gatun.transfer.device.PathUnavailableException;
import java.nio.file.Path;
import java.util.Map;

/** Connects the device memory of two sides by a path that both can take. */
final class DeviceRouting {
  private final PdDevice device;
  private final PdChild prefill;
  private final PdChild decode;
  private DeviceCapabilities one;
  private DeviceCapabilities other;
  private JsonFields identity = new JsonFields(Map.of());

  DeviceRouting(PdDevice device, PdChild prefill, JsonFields prefillOpened, PdChild decode, JsonFields decodeOpened) {
    this.device = device;
    this.prefill = prefill;
    this.decode = decode;
    one = DeviceCapabilities.of(prefillOpened.object("capabilities").map());
    other = DeviceCapabilities.of(decodeOpened.object("capabilities").map());
  }

  /** {@return who and where prefill is, by the path that was taken} */
  JsonFields identity() {
    return identity;
  }

  /**
   * Chooses a path of what both sides can do, and the next one if that turns out to be none. NIXL is tried only where nothing
   * faster can be: that loads it.
   *
   * @throws CommandException if there is none
   */
  PathChoice connect(Path socket) {
    if (device.path().filter(DevicePath.NIXL::equals).isPresent()) tryNixl();
    PathChoice choice = choose();
    String refused = connect(choice, socket);
    if (refused.isEmpty()) return choice;
    if (choice.fixed() || choice.path() != DevicePath.SAME_HOST) {
      throw new CommandException(ExitCode.UNAVAILABLE, "path " + choice + " cannot be taken: " + refused);
    }
    one = one.afterSameHostFailed(refused);
    choice = choose();
    refused = connect(choice, socket);
    if (refused.isEmpty()) return choice;
    throw new CommandException(ExitCode.UNAVAILABLE, "path " + choice + " cannot be taken: " + refused);
  }

  private void tryNixl() {
    one = one.withNixl(prefill.ask(PdProtocol.TRY_NIXL, Map.of()).text("missing"));
    other = other.withNixl(decode.ask(PdProtocol.TRY_NIXL, Map.of()).text("missing"));
  }

  private PathChoice choose() {
    try {
      if (device.path().isPresent()) return PathChoice.fixed(device.path().get(), one, other);
      PathChoice choice = PathChoice.between(one, other);
      if (choice.path() == DevicePath.SAME_HOST) return choice;
      tryNixl();
      return PathChoice.between(one, other);
    } catch (PathUnavailableException none) {
      throw new CommandException(ExitCode.UNAVAILABLE, String.valueOf(none.getMessage()));
    }
  }

  /** {@return why the path cannot be taken; empty if it was} */
  private String connect(PathChoice choice, Path socket) {
    Map<String, Object> how = Map.of("path", choice.path().word(), "socket", socket.toString());
    identity = prefill.ask(PdProtocol.CONNECT, how);
    JsonFields answer = identity.has("refused") ? identity : decode.ask(PdProtocol.CONNECT, how);
    return answer.has("refused") ? answer.text("refused") : "";
  }
}
