package dev.gatun.internal.backend;

import java.util.List;

class LoopbackExitTest extends ExitContract {
  @Override
  String store() {
    return "loopback";
  }

  @Override
  List<String> changedHandlers() {
    return List.of("[]");
  }
}
