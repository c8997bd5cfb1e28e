package dev.gatun.codec;

import dev.gatun.backend.WeightEpoch;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A key as Gatun writes it to a store: {@code namespace/run/version/logical}, or {@code namespace//logical} without an
 * epoch. The store puts the namespace and the epoch before the host's logical key, a connector {@code page-group/size/}
 * where it keeps several blocks in one object.
 *
 * @param namespace separates deployments that share a store, 1 to 64 of {@code [A-Za-z0-9._-]}
 * @param epoch the weights; empty where keys carry none
 * @param groupBlocks blocks in the object, 1 if it is no group
 * @param logical the host's key, of the last block in the object; printable ASCII, and not the beginning of a group's
 */
public record GatunKey(String namespace, Optional<WeightEpoch> epoch, int groupBlocks, String logical) {
  /** How logical keys of page groups begin; the size, a slash and the key of the last block follow. */
  public static final String GROUP = "page-group/";

  /** How keys of objects begin, as a whole or behind a prefix, by which resets see that a removal happens. */
  public static final String CANARY = "gatun-canary/";

  private static final Pattern FORM = Pattern.compile("(?<namespace>[A-Za-z0-9._-]{1,64})/"
      + "(?:(?<run>[A-Za-z0-9._-]{1,64})/(?<version>0|[1-9]\\d{0,18}))?/(?:" + GROUP
      + "(?<blocks>[1-9]\\d{0,9})/)?(?<logical>.+)");

  /** Refuses what would be read back as another key. */
  public GatunKey {
    Text.name("namespace", namespace);
    if (groupBlocks < 1) throw new IllegalArgumentException("groupBlocks must be 1 or more: " + groupBlocks);
    Text.printable("logical", Text.required("logical", logical));
    if (logical.startsWith(GROUP)) {
      throw new IllegalArgumentException("logical must not begin with " + GROUP + ": \"" + logical + '"');
    }
    Text.key((groupBlocks == 1 ? "" : group(groupBlocks)) + logical);
  }

  /**
   * {@return a page of the weights in force}
   *
   * @param namespace see the record
   * @param epoch the weights
   * @param page which page
   */
  public static GatunKey of(String namespace, WeightEpoch epoch, PageName page) {
    return new GatunKey(namespace, Optional.of(epoch), 1, page.text());
  }

  /** {@return the whole key} */
  public String text() {
    return prefix(namespace, epoch) + (groupBlocks == 1 ? "" : group(groupBlocks)) + logical;
  }

  /** {@return what the logical key says, where the host names pages by {@link PageName}} */
  public Optional<PageName> page() {
    return PageName.parse(logical);
  }

  /**
   * {@return what all keys of a namespace and epoch begin with}
   *
   * @param namespace see the record
   * @param epoch the weights; empty where keys carry none
   */
  public static String prefix(String namespace, Optional<WeightEpoch> epoch) {
    return namespace + '/' + epoch.map(weights -> weights.run() + '/' + weights.version()).orElse("") + '/';
  }

  /**
   * {@return what logical keys of groups begin with}
   *
   * @param blocks in the group
   */
  public static String group(int blocks) {
    return GROUP + blocks + '/';
  }

  /**
   * Reads a key from left to right: everything before the logical key is free of separators.
   *
   * @param key any text
   * @return its parts; empty if it is no such key. A key of somebody else that has the same form passes for one
   */
  public static Optional<GatunKey> parse(String key) {
    Matcher form = FORM.matcher(key);
    if (!form.matches()) return Optional.empty();
    String run = form.group("run");
    String blocks = form.group("blocks");
    return Text.ifSound(() -> new GatunKey(form.group("namespace"),
        run == null ? Optional.empty() : Optional.of(new WeightEpoch(run, Long.parseLong(form.group("version")))),
        blocks == null ? 1 : Text.number(blocks), form.group("logical"))).filter(parsed -> parsed.text().equals(key));
  }
}
