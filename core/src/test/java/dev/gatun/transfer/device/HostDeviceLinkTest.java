package dev.gatun.transfer.device;

import org.junit.jupiter.api.DisplayName;

@DisplayName("device pages between processes, on GPUs made of host memory")
class HostDeviceLinkTest extends DeviceLinkContract {
  @Override
  String driver() {
    return "host";
  }
}
