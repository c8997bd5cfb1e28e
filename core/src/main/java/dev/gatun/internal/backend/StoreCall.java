package dev.gatun.internal.backend;

/** The calls of a store, as messages name them. */
enum StoreCall {
  PUT("put"), BATCH_PUT("batchPut"), GET("get"), BATCH_GET("batchGet"), EXISTS("exists"), BATCH_EXISTS("batchExists"),
  SIZE("size"), REMOVE("remove"), REMOVE_MATCHING("removeMatching"), REMOVE_ALL("removeAll"), REGISTER("register"),
  UNREGISTER("unregister"), HEALTH("health");

  private final String text;

  StoreCall(String text) {
    this.text = text;
  }

  @Override
  public String toString() {
    return text;
  }
}
