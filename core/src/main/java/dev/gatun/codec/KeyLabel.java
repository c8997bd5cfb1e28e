package dev.gatun.codec;

import java.util.Optional;

/**
 * What a key says of the page under it, as far as its form is known: for lists and counts.
 *
 * @param codec whose form it is: {@code gatun}, {@code vllm}, {@code sglang}, {@code lmcache}, {@code lmcache-mp}, or
 *     {@code other}
 * @param space namespace or cache prefix; empty for none
 * @param model as the key names it; empty if it does not
 * @param rank as the key writes it; empty if it does not
 * @param epoch run and weight version; empty if keys of this form carry none
 */
public record KeyLabel(String codec, String space, String model, String rank, String epoch)
    implements
      Comparable<KeyLabel> {
  /** The {@link #owner} of all keys whose form is not known: they may be anybody's, of more than one. */
  public static final String UNKNOWN_OWNER = "keys of unknown form";

  private static final KeyLabel OTHER = new KeyLabel("other", "", "", "", "");

  /**
   * {@return the label of a key}
   *
   * @param key as a master lists it
   */
  public static KeyLabel of(String key) {
    return GatunKey.parse(key).map(KeyLabel::gatun).orElseGet(() -> engine(key));
  }

  /** {@return who would miss the page: two labels with the same owner belong to one deployment} */
  public String owner() {
    if (this.equals(OTHER)) return UNKNOWN_OWNER;
    String name = codec + (space.isEmpty() ? "" : " " + space);
    return codec.equals("gatun") ? name : name + ' ' + model;
  }

  private static KeyLabel gatun(GatunKey key) {
    KeyLabel page = key.page().map(name -> new KeyLabel("", "", name.model(), "r" + name.rank() + "of" + name.ranks(),
        "")).orElseGet(() -> engine(key.logical()));
    return new KeyLabel("gatun", key.namespace(), page.model, page.rank, key.epoch().map(Object::toString).orElse(""));
  }

  private static KeyLabel engine(String key) {
    Optional<KeyLabel> vllm = VllmKey.parse(key)
        .map(found -> new KeyLabel("vllm", found.cachePrefix(), found.model(), found.rank(), ""));
    return vllm
        .or(() -> SglangKey.parse(key).map(found -> new KeyLabel("sglang", "", found.name(), found.ranks(), "")))
        .or(() -> SglangKey.isWarmUp(key)
            ? Optional.of(new KeyLabel("sglang", "", "(warm-up)", "", ""))
            : Optional.empty())
        .or(() -> LmcacheKey.parse(key).map(found -> new KeyLabel("lmcache", "", found.model(),
            found.worker() + "of" + found.world(), "")))
        .or(() -> LmcacheSharedKey.parse(key).map(found -> new KeyLabel("lmcache-mp", "", found.model(),
            String.format("%08x", found.kvRank()), "")))
        .orElse(OTHER);
  }

  @Override
  public int compareTo(KeyLabel other) {
    return text().compareTo(other.text());
  }

  private String text() {
    return String.join("\0", codec, space, model, rank, epoch);
  }
}
