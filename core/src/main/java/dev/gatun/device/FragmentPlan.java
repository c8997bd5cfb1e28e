package dev.gatun.device;

import java.util.Arrays;

/**
 * Which pieces of a block of one paged cache go where in a block of another one: the longest pieces that lie together on both
 * sides, all of one length. Layouts, strides and the ranks' heads may differ; what is padding on either side is in no piece.
 *
 * <p>Places are those of block 0. From block to block all move by the same distance, {@link PagedKvLayout#blockBytes()}.
 */
final class FragmentPlan {
  private final long fragmentBytes;
  private final long[] sources;
  private final long[] targets;

  private FragmentPlan(long fragmentBytes, long[] sources, long[] targets) {
    this.fragmentBytes = fragmentBytes;
    this.sources = sources;
    this.targets = targets;
  }

  /**
   * Plans.
   *
   * @param source where pages come from
   * @param from its heads that go
   * @param target where they go
   * @param to its heads that receive them, as many
   * @throws IllegalArgumentException if the two do not hold the same kind of page; the message has both shapes
   */
  static FragmentPlan of(PagedKvLayout source, HeadRange from, PagedKvLayout target, HeadRange to) {
    requireAlike(source.shape(), from, target.shape(), to);
    Pieces pieces = new Pieces(source, target, from.count());
    for (int part = 0; part < source.shape().layers() * source.shape().parts(); part++)
      pieces.addPart(part, from, to);
    return pieces.plan();
  }

  private static void requireAlike(KvShape source, HeadRange from, KvShape target, HeadRange to) {
    boolean alike = source.layers() == target.layers() && source.parts() == target.parts()
        && source.headSize() == target.headSize() && source.blockTokens() == target.blockTokens()
        && source.elementBytes() == target.elementBytes();
    if (!alike) {
      throw new IllegalArgumentException(
          "target must have the layers, parts, head size, block tokens and element size of source: " + target
              + " is not like " + source);
    }
    requireHeads("source", source, from);
    requireHeads("target", target, to);
    if (from.count() != to.count()) {
      throw new IllegalArgumentException("as many heads must arrive as go: " + from + " of " + source + ", " + to
          + " of " + target);
    }
  }

  private static void requireHeads(String side, KvShape shape, HeadRange heads) {
    if (heads.count() > shape.kvHeads() - heads.first()) {
      throw new IllegalArgumentException(side + " heads must be of its " + shape.kvHeads() + ": " + heads);
    }
  }

  long fragmentBytes() {
    return fragmentBytes;
  }

  /** Fragments of each block. */
  int places() {
    return sources.length;
  }

  long source(int place) {
    return sources[place];
  }

  long target(int place) {
    return targets[place];
  }

  /** The ones among the bits of all places: the lowest one is what all are aligned to. */
  long addressBits() {
    long bits = 0;
    for (int i = 0; i < sources.length; i++)
      bits |= sources[i] | targets[i];
    return bits;
  }

  /** Collects heads of tokens, joins those that lie together, and cuts all to one length. */
  private static final class Pieces {
    private final PagedKvLayout source;
    private final PagedKvLayout target;
    private final int heads;
    private final long[] sources;
    private final long[] targets;
    private final long[] bytes;
    private int count;

    Pieces(PagedKvLayout source, PagedKvLayout target, int heads) {
      this.source = source;
      this.target = target;
      this.heads = heads;
      KvShape shape = source.shape();
      int most = Math.multiplyExact(Math.multiplyExact(shape.layers() * shape.parts(), shape.blockTokens()), heads);
      sources = new long[most];
      targets = new long[most];
      bytes = new long[most];
    }

    void addPart(int part, HeadRange from, HeadRange to) {
      boolean tokensOutside = source.order() == PagedKvLayout.Order.TOKENS_FIRST;
      int tokens = source.shape().blockTokens();
      int all = tokens * heads;
      for (int i = 0; i < all; i++) {
        int token = tokensOutside ? i / heads : i % tokens;
        int head = tokensOutside ? i % heads : i / tokens;
        add(source.headAddress(part, token, from.first() + head), target.headAddress(part, token, to.first() + head));
      }
    }

    private void add(long from, long to) {
      long headBytes = source.shape().headBytes();
      int last = count - 1;
      if (count > 0 && sources[last] + bytes[last] == from && targets[last] + bytes[last] == to) {
        bytes[last] += headBytes;
        return;
      }
      sources[count] = from;
      targets[count] = to;
      bytes[count++] = headBytes;
    }

    FragmentPlan plan() {
      long unit = 0;
      for (int i = 0; i < count; i++)
        unit = gcd(bytes[i], unit);
      int places = Math.toIntExact(Arrays.stream(bytes, 0, count).sum() / unit);
      long[] from = new long[places];
      long[] to = new long[places];
      int place = 0;
      for (int i = 0; i < count; i++) {
        for (long inner = 0; inner < bytes[i]; inner += unit) {
          from[place] = sources[i] + inner;
          to[place++] = targets[i] + inner;
        }
      }
      return new FragmentPlan(unit, from, to);
    }

    private static long gcd(long a, long b) {
      return b == 0 ? a : gcd(b, a % b);
    }
  }
}
