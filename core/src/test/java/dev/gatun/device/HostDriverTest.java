package dev.gatun.device;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

@DisplayName("GPUs made of host memory")
class HostDriverTest {
  private static final String DRIVER = "host";

  @Nested
  class Devices extends DeviceContract {
    @Override
    String driver() {
      return DRIVER;
    }
  }

  @Nested
  class Pages extends PageCopyContract {
    @Override
    String driver() {
      return DRIVER;
    }
  }

  @Nested
  class Staging extends StagingContract {
    @Override
    String driver() {
      return DRIVER;
    }
  }

  @Nested
  class Pushes extends PushContract {
    @Override
    String driver() {
      return DRIVER;
    }
  }

  @Nested
  class Known extends KnownPagesContract {
    @Override
    String driver() {
      return DRIVER;
    }
  }
}
