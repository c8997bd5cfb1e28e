package dev.gatun.internal.backend;

/** The calls of an engine, as messages name them. */
enum EngineCall {
  REGISTER("register"), UNREGISTER("unregister"), OPEN_SEGMENT("openSegment"), SUBMIT("submit"), STATUS("status"),
  NOTIFY("notify"), METADATA("metadata"), NOTIFICATIONS("notifications");

  private final String text;

  EngineCall(String text) {
    this.text = text;
  }

  @Override
  public String toString() {
    return text;
  }
}
