package dev.gatun.internal.backend;

import java.util.List;
import org.junit.jupiter.api.Tag;

@Tag("mooncake")
class MooncakeExitTest extends ExitContract {
  @Override
  String store() {
    return MooncakeTestRuntime.shared().master().rpcAddress();
  }

  @Override
  List<String> changedHandlers() {
    // SIGPIPE, which the JVM does not need: its own handler ignores it too. With libjsig the change does not reach the table
    return List.of("[13]", "[]");
  }
}
