package dev.gatun.codec;

import java.util.Collection;
import java.util.List;

/**
 * Whose keys a master has. Canaries of Gatun's own and what an SGLang server leaves there at its start are nobody's.
 *
 * @param names of the deployments, as {@link KeyLabel#owner} has them, sorted
 */
public record KeyOwners(List<String> names) {
  // so many are named, of the rest it is said that there are more
  private static final int NAMED_MAX = 10;

  /** Makes the list immutable. */
  public KeyOwners {
    names = List.copyOf(names);
  }

  /**
   * {@return whose keys these are}
   *
   * @param keys as a master lists them
   */
  public static KeyOwners of(Collection<String> keys) {
    return new KeyOwners(keys.stream().filter(key -> !key.startsWith(GatunKey.CANARY) && !SglangKey.isWarmUp(key))
        .map(key -> KeyLabel.of(key).owner()).distinct().sorted().toList());
  }

  /** {@return whether all are known to be one deployment's, or there are none: nobody else would miss them} */
  public boolean areOneAtMost() {
    return names.size() < 2 && !names.contains(KeyLabel.UNKNOWN_OWNER);
  }

  /** {@return their names, ten at most} */
  @Override
  public String toString() {
    return String.join("; ", names.subList(0, Math.min(NAMED_MAX, names.size())))
        + (names.size() > NAMED_MAX ? "; …" : "");
  }
}
