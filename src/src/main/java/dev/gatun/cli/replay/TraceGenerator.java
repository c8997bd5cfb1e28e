package dev.gatun.cli.replay;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Makes the built-in trace: conversations that share system prompts. The same seed gives the same trace.
 *
 * <p>Each request either opens a conversation (45 %) or continues one of the 64 used last. A new one starts with one of
 * 16 system prompts of 1 to 8 blocks, the first prompts being the most popular (harmonic weights), and then blocks of
 * its own; a continued one repeats its whole chain and adds 1 to 8 blocks. Chains end at 250 blocks. Arrivals are spread
 * evenly with random gaps. The figures copy the shape of published conversation traces (about 24 blocks a request, about
 * a third of the blocks seen before); they are no measurement.
 */
public final class TraceGenerator {
  /** One hour. */
  static final long DURATION_MILLIS = 3_600_000;
  private static final int LIVE_MAX = 64;
  private static final int PROMPTS = 16;
  private static final int CHAIN_MAX = 250;
  private static final int TURN_MAX = 8;
  private static final int OPENING_MEAN = 14;

  private final SplittableRandom random;
  private final long[][] prompts = new long[PROMPTS][];
  private final long[][] live = new long[LIVE_MAX][];
  private int conversations;
  private long nextId;

  private TraceGenerator(long seed) {
    random = new SplittableRandom(seed);
    for (int prompt = 0; prompt < PROMPTS; prompt++)
      prompts[prompt] = extend(new long[0], 1 + random.nextInt(TURN_MAX));
  }

  /**
   * Makes a trace of an hour.
   *
   * @param requests how many, 1 or more
   * @param seed chooses the trace
   * @return the trace
   */
  public static Trace generate(int requests, long seed) {
    if (requests < 1) throw new IllegalArgumentException("requests must be 1 or more: " + requests);
    TraceGenerator generator = new TraceGenerator(seed);
    Trace.Builder builder = new Trace.Builder("built-in (" + requests + " requests, seed " + seed + ")");
    for (int request = 0; request < requests; request++) {
      long from = DURATION_MILLIS * request / requests;
      long gap = Math.max(1, DURATION_MILLIS / requests);
      long[] chain = generator.nextChain();
      builder.add(from + (request == 0 ? 0 : generator.random.nextLong(gap)), chain, chain.length);
    }
    return builder.build();
  }

  private long[] nextChain() {
    int alive = Math.min(conversations, LIVE_MAX);
    if (alive == 0 || random.nextInt(100) < 45) return open();
    int slot = random.nextInt(alive);
    long[] chain = live[slot];
    if (chain.length >= CHAIN_MAX) return open();
    live[slot] = extend(chain, Math.min(CHAIN_MAX - chain.length, 1 + random.nextInt(TURN_MAX)));
    return live[slot];
  }

  private long[] open() {
    long[] prompt = prompts[popular()];
    // geometric, so that most openings are short and some are long
    int own = 1 + (int) (Math.log(1 - random.nextDouble()) / Math.log(1 - 1.0 / OPENING_MEAN));
    long[] chain = extend(prompt, Math.min(own, CHAIN_MAX - prompt.length));
    live[conversations++ % LIVE_MAX] = chain;
    return chain;
  }

  private int popular() {
    double weight = random.nextDouble() * harmonic();
    int prompt = 0;
    while (prompt < PROMPTS - 1 && weight >= 1.0 / (prompt + 1))
      weight -= 1.0 / ++prompt;
    return prompt;
  }

  private static double harmonic() {
    double sum = 0;
    for (int prompt = 1; prompt <= PROMPTS; prompt++)
      sum += 1.0 / prompt;
    return sum;
  }

  private long[] extend(long[] chain, int blocks) {
    long[] longer = Arrays.copyOf(chain, chain.length + blocks);
    for (int i = chain.length; i < longer.length; i++)
      longer[i] = nextId++;
    return longer;
  }
}
