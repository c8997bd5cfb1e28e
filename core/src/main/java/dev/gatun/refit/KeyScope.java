package dev.gatun.refit;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.codec.GatunKey;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which keys a reset of a part of a master removes.
 *
 * @param name for reports
 * @param first what the keys begin with; of several such texts, the one under which the canary is put
 * @param older how keys of older epochs begin; empty if all that begin with {@code first} are meant
 * @param keep lowest version that stays, 0 where all go
 */
record KeyScope(String name, String first, Optional<Pattern> older, long keep) {

  static KeyScope prefix(String text) {
    if (text.isEmpty()) throw new IllegalArgumentException("prefix must not be empty: to remove everything, refit");
    return new KeyScope("keys that begin with " + text, text, Optional.empty(), 0);
  }

  static KeyScope namespace(String namespace) {
    return new KeyScope("namespace " + checked(namespace), namespace + '/', Optional.empty(), 0);
  }

  static KeyScope below(String namespace, WeightEpoch keep) {
    if (keep.version() < 1) throw new IllegalArgumentException("keep must have a version of 1 or more: " + keep);
    String run = checked(namespace) + '/' + keep.run() + '/';
    WeightEpoch last = new WeightEpoch(keep.run(), keep.version() - 1);
    return new KeyScope("epochs of namespace " + namespace + " below " + keep,
        GatunKey.prefix(namespace, Optional.of(last)),
        Optional.of(Pattern.compile(Pattern.quote(run) + "(0|[1-9]\\d{0,18})/")), keep.version());
  }

  /** Whether the keys carry an epoch, so that what may be left of them cannot be asked for. */
  boolean isolated() {
    return older.isPresent();
  }

  boolean holds(String key) {
    return prefixOf(key).isPresent();
  }

  /** What to remove so that these keys go, the canary's among it. */
  Set<String> prefixes(Collection<String> keys) {
    Set<String> prefixes = new LinkedHashSet<>(Set.of(first));
    keys.forEach(key -> prefixOf(key).ifPresent(prefixes::add));
    return prefixes;
  }

  /** The beginning of a key that is meant, whatever bytes follow. */
  private Optional<String> prefixOf(String key) {
    if (older.isEmpty()) return key.startsWith(first) ? Optional.of(first) : Optional.empty();
    Matcher matcher = older.get().matcher(key);
    return matcher.lookingAt() && isBelow(matcher.group(1)) ? Optional.of(matcher.group()) : Optional.empty();
  }

  /** Versions of 19 digits can be larger than any that Gatun writes. */
  private boolean isBelow(String version) {
    try {
      return Long.parseLong(version) < keep;
    } catch (NumberFormatException foreign) {
      return false;
    }
  }

  private static String checked(String namespace) {
    return new GatunKey(namespace, Optional.empty(), 1, "any").namespace();
  }
}
