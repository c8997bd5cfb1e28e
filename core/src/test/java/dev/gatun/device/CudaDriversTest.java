package dev.gatun.device;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.internal.device.FfmDriverProvider;
import dev.gatun.internal.device.LwjglDriverProvider;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CudaDriversTest {
  private static final String LIBRARY = "gatun.cuda.library";

  @Test
  @DisplayName("three ways to a driver are known, and a fourth is refused with their names")
  void names() {
    assertEquals(List.of("ffm", "host", "lwjgl"), CudaDrivers.names());
    assertTrue(message(IllegalArgumentException.class, () -> CudaDrivers.probe("cuda")).contains("[ffm, host, lwjgl]"));
  }

  @Test
  @DisplayName("K14.01 K14.03 without a driver's library each attempt says which one is missing and what to do")
  void missingLibrary(@TempDir Path folder) {
    Path nowhere = folder.resolve("libcuda.so.1");
    String before = System.getProperty(LIBRARY);
    System.setProperty(LIBRARY, nowhere.toString());
    try {
      for (CudaDriverProvider provider : List.of(new FfmDriverProvider(), new LwjglDriverProvider(),
          new FfmDriverProvider())) {
        DriverUnavailableException missing = assertThrows(DriverUnavailableException.class, provider::open);
        assertTrue(missing.missing().contains(nowhere.toString()), missing.missing());
        assertTrue(missing.fix().contains("nvidia-smi") && missing.fix().contains(LIBRARY), missing.fix());
        assertTrue(String.valueOf(missing.getMessage()).contains(missing.fix()));
      }
    } finally {
      if (before == null) System.clearProperty(LIBRARY);
      else
        System.setProperty(LIBRARY, before);
    }
  }

  @Test
  @DisplayName("an error says call, name, number, the driver's text, and whether the process can go on")
  void errors() {
    DeviceException lost = new DeviceException("cuEventQuery", 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal access");
    assertTrue(lost.isContextLost());
    assertEquals("cuEventQuery failed: CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal access; the GPU context of this "
        + "process is lost and every later call fails: end the process", lost.getMessage());
    DeviceException old = new DeviceException("cuModuleLoadData", 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "too new");
    assertFalse(old.isContextLost());
    assertTrue(String.valueOf(old.getMessage()).endsWith("need a driver of CUDA 12.4 or newer"), old.getMessage());
    assertEquals("f failed: n (5), t", new DeviceException("f", 5, "n", "t").getMessage());
  }
}
