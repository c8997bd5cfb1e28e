package dev.gatun.internal.device;

import dev.gatun.device.CudaDriver;
import dev.gatun.device.DeviceException;
import dev.gatun.device.DriverUnavailableException;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Which library of the CUDA driver is asked for, and in which words it is missed. */
final class DriverLibrary {
  /** System property: the library's file, where the dynamic linker does not find it. */
  static final String PROPERTY = "gatun.cuda.library";

  private DriverLibrary() {}

  static CudaDriver open(Function<@Nullable Path, CudaDriver> open) {
    String configured = System.getProperty(PROPERTY);
    try {
      return open.apply(configured == null ? null : Path.of(configured));
    } catch (UnsatisfiedLinkError | IllegalStateException e) {
      throw new DriverUnavailableException("no CUDA driver: " + e.getMessage(),
          "install NVIDIA's driver (nvidia-smi must work), give the container a GPU, or name its libcuda.so.1 with -D"
              + PROPERTY,
          e);
    } catch (DeviceException e) {
      throw new DriverUnavailableException("the CUDA driver does not start: " + e.getMessage(), "see nvidia-smi", e);
    } catch (IllegalCallerException e) {
      throw new DriverUnavailableException("native access is not allowed: " + e.getMessage(),
          "start java with --enable-native-access=dev.gatun.bindings,dev.gatun.core (ALL-UNNAMED on a class path)", e);
    }
  }
}
