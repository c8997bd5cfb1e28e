package dev.gatun.device;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

@DisplayName("the generated bindings, on a stand-in for the CUDA driver")
class FfmDriverTest {
  private static final String DRIVER = "ffm";

  @BeforeAll
  static void select() throws Exception {
    StandInLibrary.select();
  }

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
}
