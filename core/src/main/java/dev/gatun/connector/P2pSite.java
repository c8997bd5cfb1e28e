package dev.gatun.connector;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.transfer.Handovers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Where hand-overs happen.
 *
 * @param handovers carries them out
 * @param pool this host's cache, whose blocks are handed over
 * @param gate of both
 * @param options how long to wait
 * @param layout what a page is, its size included
 * @param layoutDigest the same in short
 */
record P2pSite(Handovers handovers, BlockPool pool, EpochGate gate, P2pOptions options, String layout,
    String layoutDigest) {

  static P2pSite of(Handovers handovers, BlockPool pool, P2pOptions options) {
    String layout = "pages of " + pool.pageBytes() + " bytes, " + options.layout();
    return new P2pSite(handovers, pool, pool.gate(), options, layout, digest(layout));
  }

  /** Why pages of that epoch and layout cannot be handed over here, null if they can. */
  @Nullable
  String refusal(WeightEpoch wanted, String otherLayout) {
    if (!wanted.equals(gate.epoch())) return "epoch " + wanted + " is wanted, weights here are " + gate.epoch();
    if (!otherLayout.equals(layout)) return "layouts differ: \"" + otherLayout + "\" is wanted, here \"" + layout + '"';
    return null;
  }

  /** Blocks {@code from} to {@code to} of a table. */
  static long[] leases(BlockTable blocks, int from, int to) {
    return blocks.stream().skip(from).limit(to - from).toArray();
  }

  private static String digest(String layout) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(layout.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
