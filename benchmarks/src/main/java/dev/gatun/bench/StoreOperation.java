package dev.gatun.bench;

/** What is timed. Puts are of keys that are not there: after each, all keys are removed, untimed. */
enum StoreOperation {
  /** One batch put of a batch that is filled. */
  PUT("put", 0),
  /** One batch get of a batch that is filled. */
  GET("get", 1),
  /** One batch of existence queries. */
  EXISTS("exists", 2),
  /** Emptying a batch, filling it again and putting it. */
  FILL_PUT("fillPut", -1),
  /** Emptying a batch, filling it again and getting it. */
  FILL_GET("fillGet", -1);

  private final String text;
  private final int loopCode;

  StoreOperation(String text, int loopCode) {
    this.text = text;
    this.loopCode = loopCode;
  }

  /** {@return its name in reports, that of the C program's} */
  String text() {
    return text;
  }

  /** {@return its number in the C loop} */
  int loopCode() {
    return inC().loopCode;
  }

  /** {@return what C does in its place: its arrays are filled once} */
  StoreOperation inC() {
    return switch (this) {
      case FILL_PUT -> PUT;
      case FILL_GET -> GET;
      default -> this;
    };
  }

  boolean isPut() {
    return this == PUT || this == FILL_PUT;
  }
}
