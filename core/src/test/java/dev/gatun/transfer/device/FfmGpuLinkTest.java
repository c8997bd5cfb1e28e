package dev.gatun.transfer.device;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Run on a machine with a GPU; both processes are on the same one if there is one only. */
@Tag("gpu")
@DisplayName("device pages between processes, on a GPU")
class FfmGpuLinkTest extends DeviceLinkContract {
  @Override
  String driver() {
    return "ffm";
  }
}
