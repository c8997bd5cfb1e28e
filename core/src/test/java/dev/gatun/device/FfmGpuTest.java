package dev.gatun.device;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

@Tag("gpu")
@DisplayName("the generated bindings, on a GPU")
class FfmGpuTest {
  private static final String DRIVER = "ffm";

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

  @Nested
  class Contexts extends ContextContract {
    @Override
    String driver() {
      return DRIVER;
    }
  }

  @Nested
  class VirtualMemory extends VirtualMemoryContract {
    @Override
    String driver() {
      return DRIVER;
    }
  }
}
