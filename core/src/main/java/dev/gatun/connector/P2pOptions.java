package dev.gatun.connector;

import dev.gatun.backend.HostPort;
import java.time.Duration;

/**
 * How a connector between processes listens and waits.
 *
 * @param host interface on which the worker side, and the bootstrap service of a {@link MooncakeConnector}, listen; peers
 *     are told the same
 * @param bootstrapPort of the bootstrap service that a producing {@link MooncakeConnector} runs, 0 for a free one
 * @param layout what a page is, in the host's words: model, element type, tokens of a block, parallel sizes. Peers of
 *     another layout are refused
 * @param transferTimeout longest hand-over, seen from decode
 * @param offerTimeout how long prefill keeps the blocks of a request that no decode has asked for
 */
public record P2pOptions(String host, int bootstrapPort, String layout, Duration transferTimeout,
    Duration offerTimeout) {
  // vLLM's for a peer that does not answer, and for blocks that nobody asks for
  private static final Duration TRANSFER_DEFAULT = Duration.ofSeconds(30);
  private static final Duration OFFER_DEFAULT = Duration.ofMinutes(8);
  static final Duration SHORTEST = Duration.ofMillis(1);
  static final Duration LONGEST = Duration.ofHours(1);
  private static final int LAYOUT_MAX = 1000;

  /** Refuses what cannot be. */
  public P2pOptions {
    HostPort parsed = HostPort.parse("host", host, HostPort.NO_PORT);
    if (parsed.port() != HostPort.NO_PORT) {
      throw new IllegalArgumentException("host must have no port of its own: \"" + host + '"');
    }
    if (parsed.isWildcard()) {
      throw new IllegalArgumentException("host must be an interface's own, at which peers reach it, not all of them: \""
          + host + '"');
    }
    if (bootstrapPort < 0 || bootstrapPort > 65_535) {
      throw new IllegalArgumentException("bootstrapPort must be 0 to 65535: " + bootstrapPort);
    }
    if (layout.isBlank() || layout.length() > LAYOUT_MAX) {
      throw new IllegalArgumentException("layout must be 1 to " + LAYOUT_MAX + " characters: " + layout.length());
    }
    between("transferTimeout", transferTimeout);
    between("offerTimeout", offerTimeout);
  }

  /**
   * {@return options of this machine alone, 30 s for a hand-over and 480 s for an offer}
   *
   * @param layout what a page is
   */
  public static P2pOptions loopback(String layout) {
    return new P2pOptions("127.0.0.1", 0, layout, TRANSFER_DEFAULT, OFFER_DEFAULT);
  }

  /**
   * {@return the same with another place to listen}
   *
   * @param listenHost see the record
   * @param port see the record
   */
  public P2pOptions withBootstrap(String listenHost, int port) {
    return new P2pOptions(listenHost, port, layout, transferTimeout, offerTimeout);
  }

  /**
   * {@return the same with other waits}
   *
   * @param transfer see the record
   * @param offer see the record
   */
  public P2pOptions withTimeouts(Duration transfer, Duration offer) {
    return new P2pOptions(host, bootstrapPort, layout, transfer, offer);
  }

  private static void between(String field, Duration value) {
    if (value.compareTo(SHORTEST) < 0 || value.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(field + " must be " + SHORTEST + " to " + LONGEST + ": " + value);
    }
  }
}
