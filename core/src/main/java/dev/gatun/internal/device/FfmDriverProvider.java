package dev.gatun.internal.device;

import dev.gatun.bindings.cuda.CudaC;
import dev.gatun.bindings.cuda.CudaLibrary;
import dev.gatun.device.CudaDriver;
import dev.gatun.device.CudaDriverProvider;

/** Opens the driver through the generated bindings. */
public final class FfmDriverProvider implements CudaDriverProvider {
  /** Called by the service loader. */
  public FfmDriverProvider() {}

  @Override
  public String name() {
    return "ffm";
  }

  @Override
  public CudaDriver open() {
    return DriverLibrary.open(library -> {
      CudaLibrary.load(library);
      FfmStatus.check(CudaC.cuInit(0), "cuInit");
      return new FfmCudaDriver();
    });
  }
}
