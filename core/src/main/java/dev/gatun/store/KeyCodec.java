package dev.gatun.store;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.codec.GatunKey;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How logical keys become keys of the store, and what is stored beside a page. Everybody who shares pages uses the same.
 *
 * @param namespace separates deployments that share a store: 1 to 64 of {@code [A-Za-z0-9._-]}, empty only for
 *     {@link #verbatim()}
 * @param epochInKey whether keys carry run and weight version, so that pages of older weights cannot be asked for
 * @param verify what is stored beside a page
 */
public record KeyCodec(String namespace, boolean epochInKey, Verify verify) {
  // the set keeps prefixes free of separators and of pattern syntax; 64 keeps whole keys short
  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  // digits of Long.MAX_VALUE
  private static final int VERSION_DIGITS_MAX = 19;
  private static final int RUN_BYTES_MAX = 64;

  /** Refuses a namespace that is empty beside an epoch or a stamp, too long, or holds other characters. */
  public KeyCodec {
    boolean verbatim = namespace.isEmpty() && !epochInKey && verify == Verify.NONE;
    if (!verbatim && !NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException("namespace must be 1 to 64 of [A-Za-z0-9._-]: \"" + namespace + '"');
    }
  }

  /**
   * {@return keys {@code namespace/run/version/logical}: a refit makes all earlier pages unreachable}
   *
   * @param namespace separates deployments that share a store
   */
  public static KeyCodec epoch(String namespace) {
    return new KeyCodec(namespace, true, Verify.NONE);
  }

  /**
   * {@return keys {@code namespace//logical}: after a refit only removal, or a stamp, keeps earlier pages away}
   *
   * @param namespace separates deployments that share a store
   */
  public static KeyCodec plain(String namespace) {
    return new KeyCodec(namespace, false, Verify.NONE);
  }

  /** {@return keys exactly as given, for the formats of engines and for administration; no epoch, no stamp} */
  public static KeyCodec verbatim() {
    return new KeyCodec("", false, Verify.NONE);
  }

  /**
   * {@return the same keys with another verification}
   *
   * @param level what to store beside a page
   */
  public KeyCodec withVerify(Verify level) {
    return new KeyCodec(namespace, epochInKey, level);
  }

  /** {@return bytes that stand before a page in the store: 64 for a stamp, else 0} */
  public int headerBytes() {
    return verify == Verify.NONE ? 0 : Stamp.BYTES;
  }

  /**
   * {@return the bytes before a logical key}
   *
   * @param epoch the epoch in force
   */
  byte[] prefix(WeightEpoch epoch) {
    if (namespace.isEmpty()) return new byte[0];
    return GatunKey.prefix(namespace, epochInKey ? Optional.of(epoch) : Optional.empty())
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Longest prefix that any epoch can give. */
  int prefixBytesMax() {
    if (namespace.isEmpty()) return 0;
    return namespace.length() + 2 + (epochInKey ? RUN_BYTES_MAX + 1 + VERSION_DIGITS_MAX : 0);
  }
}
