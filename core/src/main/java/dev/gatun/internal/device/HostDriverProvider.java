package dev.gatun.internal.device;

import dev.gatun.device.CudaDriver;
import dev.gatun.device.CudaDriverProvider;

/** Opens GPUs made of host memory. Always there. */
public final class HostDriverProvider implements CudaDriverProvider {
  /** Called by the service loader. */
  public HostDriverProvider() {}

  @Override
  public String name() {
    return "host";
  }

  @Override
  public CudaDriver open() {
    return new HostCudaDriver();
  }
}
