package dev.gatun.codec;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names a page by everything that decides whether its bytes can be used, but for the weights, which the store's codec puts
 * before it: {@code model@revision@geometry@dtype@rROWofROWS@hash}. Give {@code KvKey.of(name.text())} to a store or a
 * connector.
 *
 * @param model any name of printable ASCII; may hold the separator
 * @param revision of the model's files, 1 to 64 of {@code [A-Za-z0-9._-]}
 * @param geometry shape of the page
 * @param dtype of the elements, such as {@code bfloat16}
 * @param rank which part of the KV, 0 or more
 * @param ranks into how many parts the KV is cut, more than {@code rank}
 * @param hash of the tokens up to the end of the page, 8 to 64 bytes in lower-case hex
 */
public record PageName(String model, String revision, PageGeometry geometry, String dtype, int rank, int ranks,
    String hash) {
  private static final Pattern DTYPE = Pattern.compile("[a-z0-9_]{1,32}");
  // from the right every part but the model has its place
  private static final Pattern FORM = Pattern.compile("(.+)@([A-Za-z0-9._-]{1,64})@(l\\d+h\\d+d\\d+b\\d+)"
      + "@([a-z0-9_]{1,32})@r(\\d+)of(\\d+)@([0-9a-f]+)");

  /** Refuses what would make two pages one, or could not be read back. */
  public PageName {
    Text.printable("model", Text.required("model", model));
    if (model.startsWith(GatunKey.GROUP)) {
      throw new IllegalArgumentException("model must not begin with " + GatunKey.GROUP + ": \"" + model + '"');
    }
    Text.name("revision", revision);
    Text.matching("dtype", dtype, DTYPE, "1 to 32 of [a-z0-9_]");
    if (ranks < 1) throw new IllegalArgumentException("ranks must be 1 or more: " + ranks);
    if (rank < 0 || rank >= ranks) {
      throw new IllegalArgumentException("rank must be 0 to " + (ranks - 1) + ": " + rank);
    }
    Text.hash(hash);
    Text.key(join(model, revision, geometry, dtype, rank, ranks, hash));
  }

  /** {@return the logical key} */
  public String text() {
    return join(model, revision, geometry, dtype, rank, ranks, hash);
  }

  /**
   * Reads a logical key from right to left.
   *
   * @param key any text
   * @return its parts; empty if it is no such key
   */
  public static Optional<PageName> parse(String key) {
    Matcher form = FORM.matcher(key);
    if (!Text.isKey(key) || !form.matches()) return Optional.empty();
    return PageGeometry.parse(form.group(3)).flatMap(geometry -> Text.ifSound(
        () -> new PageName(form.group(1), form.group(2), geometry, form.group(4), Text.number(form.group(5)),
            Text.number(form.group(6)), form.group(7))))
        .filter(parsed -> parsed.text().equals(key));
  }

  private static String join(String model, String revision, PageGeometry geometry, String dtype, int rank, int ranks,
      String hash) {
    return model + '@' + revision + '@' + geometry.text() + '@' + dtype + "@r" + rank + "of" + ranks + '@' + hash;
  }
}
