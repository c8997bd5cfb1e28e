package dev.gatun.device;

/**
 * Heads of one rank's cache that go together to another's.
 *
 * @param first its first head, from 0
 * @param count how many
 */
public record HeadRange(int first, int count) {
  /**
   * Checks.
   *
   * @throws IllegalArgumentException naming the field, its value and what is allowed
   */
  public HeadRange {
    if (first < 0) throw new IllegalArgumentException("first must be 0 or more: " + first);
    if (count <= 0) throw new IllegalArgumentException("count must be positive: " + count);
  }

  /**
   * {@return all heads of a cache}
   *
   * @param shape its sizes
   */
  public static HeadRange all(KvShape shape) {
    return new HeadRange(0, shape.kvHeads());
  }

  /**
   * The heads that two ranks of groups of different tensor-parallel degree have in common, as each of them counts. With
   * fewer heads than ranks several ranks hold the same head.
   *
   * @param heads KV heads of the whole model
   * @param ranks ranks of the group that counts
   * @param rank which of them counts
   * @param otherRanks ranks of the other group
   * @param otherRank which of them shares heads with it
   * @return the common heads, the first one counted from the first head of {@code rank}
   * @throws IllegalArgumentException if a rank is none of its group, heads cannot be dealt out evenly, or the two have none
   *     in common
   */
  public static HeadRange common(int heads, int ranks, int rank, int otherRanks, int otherRank) {
    HeadRange mine = ofRank("rank", heads, ranks, rank);
    HeadRange others = ofRank("otherRank", heads, otherRanks, otherRank);
    int from = Math.max(mine.first, others.first);
    int to = Math.min(mine.first + mine.count, others.first + others.count);
    if (from >= to) {
      throw new IllegalArgumentException("otherRank must hold heads of rank: rank " + rank + " of " + ranks + " holds "
          + mine + ", rank " + otherRank + " of " + otherRanks + " holds " + others);
    }
    return new HeadRange(from - mine.first, to - from);
  }

  private static HeadRange ofRank(String field, int heads, int ranks, int rank) {
    if (heads <= 0) throw new IllegalArgumentException("heads must be positive: " + heads);
    if (ranks <= 0 || (heads % ranks != 0 && ranks % heads != 0)) {
      throw new IllegalArgumentException("ranks must divide " + heads + " heads, or be a multiple of them: " + ranks);
    }
    if (rank < 0 || rank >= ranks) {
      throw new IllegalArgumentException(field + " must be 0 to " + (ranks - 1) + ": " + rank);
    }
    if (ranks >= heads) return new HeadRange(rank / (ranks / heads), 1);
    int each = heads / ranks;
    return new HeadRange(rank * each, each);
  }
}
