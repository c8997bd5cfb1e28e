package dev.gatun.internal.rdma;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.gatun.bindings.verbs.VerbsC;
import dev.gatun.bindings.verbs.VerbsLibrary;
import dev.gatun.bindings.verbs.gatun_verbs_name;
import dev.gatun.nativelib.LibraryUnavailableException;
import dev.gatun.nativelib.NativeAccess;
import dev.gatun.nativelib.NativeLibraries;
import dev.gatun.rdma.RdmaDevice;
import dev.gatun.rdma.RdmaProvider;
import dev.gatun.rdma.RdmaReport;
import dev.gatun.rdma.RegistrationErrors;
import dev.gatun.rdma.RegistrationTrial;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Asks libibverbs. Whatever fails is tried anew by the next call, and says the same in words. */
public final class VerbsProvider implements RdmaProvider {
  private static final int ENOSYS = 38;
  private static final int DEVICES_MAX = 256; // a host has some tens at most, virtual functions included
  private static final String INSTALL = "apt-get install libibverbs1 ibverbs-providers";
  private static final String KERNEL = "load the NIC's driver (rdma link shows what the kernel has); a container needs "
      + "--device=/dev/infiniband";

  private final Supplier<String> chosen;

  /** For {@link java.util.ServiceLoader}. */
  public VerbsProvider() {
    this(NativeLibraries::verbsLibrary);
  }

  /** Asks another library than the one that settings choose. */
  VerbsProvider(Supplier<String> chosen) {
    this.chosen = chosen;
  }

  @Override
  public RdmaReport probe() {
    try {
      String library = chosen.get();
      return probe(library, open(library));
    } catch (LibraryUnavailableException e) {
      return new RdmaReport("", false, List.of(), firstLine(e), e.fix());
    }
  }

  @Override
  public RegistrationTrial tryRegister(String device, long bytes) {
    int library;
    try {
      library = open(chosen.get());
    } catch (LibraryUnavailableException e) {
      return new RegistrationTrial(device, bytes, firstLine(e), e.fix());
    }
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment step = call.allocate(JAVA_INT);
      int answer = VerbsC.gatun_verbs_try_register(library, call.allocateFrom(device), bytes, step);
      if (answer == 0) return new RegistrationTrial(device, bytes, "", "");
      String fault = DeviceQuestion.step(step.get(JAVA_INT, 0)) + ": " + RegistrationErrors.name(-answer);
      return new RegistrationTrial(device, bytes, fault, RegistrationErrors.hint(-answer));
    }
  }

  /** Loads the shim and opens the library, or says how to get what is missing. */
  private static int open(String library) {
    try {
      VerbsLibrary.load(NativeLibraries.locateVerbsShim().loadOrder().getFirst());
      return VerbsLibrary.open(library);
    } catch (IllegalCallerException e) {
      throw NativeAccess.denied(VerbsLibrary.class, e);
    } catch (UnsatisfiedLinkError | IllegalStateException e) {
      throw new LibraryUnavailableException(String.valueOf(e.getMessage()), List.of(),
          Path.of(library).isAbsolute() ? "name another libibverbs.so.1, or none to take the system's" : INSTALL, e);
    }
  }

  private static String firstLine(LibraryUnavailableException missing) {
    return missing.getMessage().lines().findFirst().orElse("");
  }

  private static RdmaReport probe(String name, int library) {
    boolean dmabuf = (VerbsC.gatun_verbs_features(library) & VerbsC.GATUN_VERBS_HAS_DMABUF()) != 0;
    List<RdmaDevice> devices = new ArrayList<>();
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment names = gatun_verbs_name.allocateArray(DEVICES_MAX, call);
      int count = VerbsC.gatun_verbs_devices(library, names, DEVICES_MAX);
      if (count < 0) {
        String reason = count == -ENOSYS
            ? "the kernel has no RDMA"
            : name + " refused the list: " + RegistrationErrors.name(-count);
        return new RdmaReport(name, dmabuf, List.of(), "no RDMA devices, " + reason, KERNEL);
      }
      for (int i = 0; i < Math.min(count, DEVICES_MAX); i++)
        devices.add(new DeviceQuestion(library, gatun_verbs_name.asSlice(names, i).getString(0)).answer());
    }
    return devices.isEmpty()
        ? new RdmaReport(name, dmabuf, devices, "no RDMA devices", KERNEL)
        : new RdmaReport(name, dmabuf, devices, "", "");
  }
}
