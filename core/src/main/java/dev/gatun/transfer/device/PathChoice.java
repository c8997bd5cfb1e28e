package dev.gatun.transfer.device;

import dev.gatun.transfer.device.PathRefusal.Cause;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Which path pages take between two processes, and why: a property of what both sides can do. Immutable.
 *
 * @param path the path
 * @param fixed whether it was named by configuration, not found
 * @param passedOver what would have been faster and cannot be, the fastest first
 */
public record PathChoice(DevicePath path, boolean fixed, List<PathRefusal> passedOver) {
  /** Copies. */
  public PathChoice {
    passedOver = List.copyOf(passedOver);
  }

  /**
   * Chooses the fastest path that both sides can take.
   *
   * @param one a side
   * @param other the other side; which is which does not matter
   * @return the choice
   * @throws PathUnavailableException if there is none
   */
  public static PathChoice between(DeviceCapabilities one, DeviceCapabilities other) {
    List<PathRefusal> passedOver = new ArrayList<>();
    for (DevicePath path : DevicePath.values()) {
      Optional<PathRefusal> refusal = refusal(path, one, other);
      if (refusal.isEmpty()) return new PathChoice(path, false, passedOver);
      passedOver.add(refusal.get());
    }
    throw new PathUnavailableException("no path for device memory between the two", passedOver);
  }

  /**
   * Takes a path that configuration names, if both sides can.
   *
   * @param path the one to take
   * @param one a side
   * @param other the other side
   * @return the choice
   * @throws PathUnavailableException if they cannot, saying why; another one is not taken in its place
   */
  public static PathChoice fixed(DevicePath path, DeviceCapabilities one, DeviceCapabilities other) {
    Optional<PathRefusal> refusal = refusal(path, one, other);
    if (refusal.isEmpty()) return new PathChoice(path, true, List.of());
    throw new PathUnavailableException("path " + path + " is fixed by configuration and cannot be taken",
        List.of(refusal.get()));
  }

  private static Optional<PathRefusal> refusal(DevicePath path, DeviceCapabilities one, DeviceCapabilities other) {
    return switch (path) {
      case SAME_HOST -> sameHost(one, other);
      case NIXL -> missing(path, Cause.NO_NIXL, one.nixlMissing(), other.nixlMissing());
      case STAGED -> staged(one, other);
    };
  }

  private static Optional<PathRefusal> sameHost(DeviceCapabilities one, DeviceCapabilities other) {
    DevicePath path = DevicePath.SAME_HOST;
    if (!one.host().equals(other.host())) {
      return refused(path, Cause.OTHER_HOST, "the two run on different machines");
    }
    if (!one.processes().equals(other.processes())) {
      return refused(path, Cause.OTHER_PROCESS_NAMESPACE,
          "process numbers of one mean nothing to the other: " + one.processes() + ", " + other.processes());
    }
    if (!one.user().equals(other.user())) {
      return refused(path, Cause.OTHER_USER, "different users: " + one.user() + ", " + other.user());
    }
    if (one.isHostMemory() != other.isHostMemory()) {
      return refused(path, Cause.OTHER_DRIVER, "different drivers: " + one.driver() + ", " + other.driver());
    }
    Optional<PathRefusal> unshared = missing(path, Cause.NOT_SHARED, one.sharingMissing(), other.sharingMissing());
    if (unshared.isPresent()) return unshared;
    return missing(path, Cause.TRIED, one.sameHostTried(), other.sameHostTried());
  }

  private static Optional<PathRefusal> staged(DeviceCapabilities one, DeviceCapabilities other) {
    if (!one.engine().isEmpty() && one.engine().equals(other.engine())) return Optional.empty();
    return refused(DevicePath.STAGED, Cause.NO_ENGINE,
        "no transfer engine of one kind on both sides: \"" + one.engine() + "\", \"" + other.engine() + '"');
  }

  private static Optional<PathRefusal> missing(DevicePath path, Cause cause, String one, String other) {
    if (one.isEmpty() && other.isEmpty()) return Optional.empty();
    return refused(path, cause, one.isEmpty() ? other : one);
  }

  private static Optional<PathRefusal> refused(DevicePath path, Cause cause, String detail) {
    return Optional.of(new PathRefusal(path, cause, detail));
  }

  /** {@return why this path, in words} */
  public String why() {
    if (fixed) return "fixed by configuration";
    if (passedOver.isEmpty()) return "both run on this host as one user and their memory can be shared";
    return passedOver.stream().map(PathRefusal::toString).collect(Collectors.joining("; "));
  }

  @Override
  public String toString() {
    return path + " (" + why() + ')';
  }
}
