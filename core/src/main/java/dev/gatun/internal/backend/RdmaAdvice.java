package dev.gatun.internal.backend;

import dev.gatun.backend.RegistrationAdvice;
import dev.gatun.rdma.LockedMemory;
import dev.gatun.rdma.RdmaDevice;
import dev.gatun.rdma.RdmaDevices;
import dev.gatun.rdma.RdmaReport;
import dev.gatun.rdma.RegistrationErrors;
import dev.gatun.rdma.RegistrationLimits;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is known about Mooncake over RDMA: it registers memory once with each device, and cuts what is larger than a
 * device's regions. Devices are looked at when first asked about, limits each time.
 */
final class RdmaAdvice implements RegistrationAdvice {
  static final String PROTOCOL = "rdma";

  // ENOMEM, EACCES, EFAULT, ENODEV, EINVAL, EMFILE, EOPNOTSUPP: others are codes of Mooncake's own, or say nothing
  private static final Set<Long> ERRNOS = Set.of(12L, 13L, 14L, 19L, 22L, 24L, 95L);

  private final Set<String> chosen;
  private final Supplier<RdmaReport> probe;
  private final Supplier<LockedMemory> lockedMemory;
  private @Nullable RdmaReport report;

  RdmaAdvice(String devices, Supplier<RdmaReport> probe, Supplier<LockedMemory> lockedMemory) {
    this.chosen = Stream.of(devices.split(",", -1)).map(String::strip).filter(name -> !name.isEmpty())
        .collect(Collectors.toUnmodifiableSet());
    this.probe = probe;
    this.lockedMemory = lockedMemory;
  }

  /** {@return what to say about the memory of a backend with this protocol and these devices} */
  static RegistrationAdvice of(String protocol, String devices) {
    return protocol.equals(PROTOCOL)
        ? new RdmaAdvice(devices, RdmaDevices::probe, LockedMemory::read)
        : RegistrationAdvice.NONE;
  }

  /** {@return why no backend with this protocol may have opened, to be put behind other reasons; empty for other protocols} */
  static String whyNotOpened(String protocol, String devices) {
    return protocol.equals(PROTOCOL)
        ? "; RDMA: " + new RdmaAdvice(devices, RdmaDevices::probe, LockedMemory::read).state()
        : "";
  }

  /** {@return the devices in words, and which of those that were asked for are not there} */
  String state() {
    RdmaReport seen = report();
    List<String> absent = chosen.stream().filter(name -> seen.devices().stream().noneMatch(d -> d.name().equals(name)))
        .sorted().toList();
    return seen.summary() + (absent.isEmpty() ? "" : "; there is no device " + String.join(", ", absent));
  }

  @Override
  public String refusal(long bytes) {
    return lockedMemory.get().forbids(bytes) ? limits().refusal(bytes) : ""; // no look at devices where all is well
  }

  @Override
  public String hint(long bytes, long code) {
    String suspicion = limits().suspicion(bytes);
    long errno = Math.abs(code);
    String meaning = ERRNOS.contains(errno)
        ? RegistrationErrors.name((int) errno) + " from a device: " + RegistrationErrors.hint((int) errno)
        : "";
    return Stream.of(suspicion, meaning, report().usable().isEmpty() ? "RDMA: " + state() : "")
        .filter(text -> !text.isEmpty()).collect(Collectors.joining("; "));
  }

  private RegistrationLimits limits() {
    List<RdmaDevice> used = report().usable().stream()
        .filter(device -> chosen.isEmpty() || chosen.contains(device.name())).toList();
    return new RegistrationLimits(lockedMemory.get(), used);
  }

  private synchronized RdmaReport report() {
    RdmaReport seen = report;
    if (seen == null) {
      seen = probe.get();
      report = seen;
    }
    return seen;
  }
}
