package dev.gatun.internal.device;

import dev.gatun.bindings.cuda.CudaLibrary;
import dev.gatun.device.CudaDriver;
import dev.gatun.device.CudaDriverProvider;
import dev.gatun.device.DriverUnavailableException;
import java.nio.file.Path;

/** Opens the driver through LWJGL, where its modules are there. */
public final class LwjglDriverProvider implements CudaDriverProvider {
  private static final String FIX = "put org.lwjgl:lwjgl:3.3.6, its natives for this platform and "
      + "org.lwjgl:lwjgl-cuda:3.3.6 on the module path and start java with --add-modules org.lwjgl.cuda,org.lwjgl.natives "
      + "--enable-native-access=org.lwjgl --sun-misc-unsafe-memory-access=allow; or use the driver ffm";

  /** Called by the service loader. */
  public LwjglDriverProvider() {}

  @Override
  public String name() {
    return "lwjgl";
  }

  @Override
  public CudaDriver open() {
    return DriverLibrary.open(library -> {
      Path file = CudaLibrary.load(library); // says why there is none; LWJGL could say it only once a process
      try {
        return LwjglCudaDriver.open(file);
      } catch (NoClassDefFoundError e) {
        throw new DriverUnavailableException("LWJGL is not there: " + e.getMessage(), FIX, e);
      }
    });
  }
}
