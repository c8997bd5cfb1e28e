package dev.gatun.connector;

/** Answer to the question how much of a request's prefix a connector has. */
public sealed interface PrefixLookup {
  /** {@return leading blocks that are known to be there, those that the host had itself included} */
  int blocks();

  /**
   * All of the prefix that can be loaded.
   *
   * @param blocks leading blocks, those that the host had itself included; with no more than those it is a miss
   */
  record Found(int blocks) implements PrefixLookup {}

  /** The answer is on its way: schedule other requests and ask again. */
  record Pending() implements PrefixLookup {
    @Override
    public int blocks() {
      return 0;
    }
  }

  /**
   * Somebody could not say. Not a miss: more may be there.
   *
   * @param blocks leading blocks that are known to be there all the same
   * @param reason what failed
   */
  record Failed(int blocks, String reason) implements PrefixLookup {}
}
