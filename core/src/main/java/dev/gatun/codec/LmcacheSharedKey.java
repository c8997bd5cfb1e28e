package dev.gatun.codec;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The key under which LMCache's multi-process server keeps an object in its {@code mooncake_store} adapter:
 * {@code model@kv_rank@object_group@hash[@salt]}.
 *
 * @param model its name, without the separator
 * @param kvRank which part of the model's KV, 32 bits
 * @param objectGroup which group of objects, 0 or more
 * @param hash of the chunk, in lower-case hex
 * @param salt of the request, at most 128 characters without {@code @}, {@code /} and {@code \}; empty for none
 */
public record LmcacheSharedKey(String model, int kvRank, int objectGroup, String hash, String salt) {
  private static final int SALT_MAX = 128;
  private static final Pattern FORM = Pattern.compile(
      "(?<model>[^@]+)@(?<rank>[0-9a-f]{8})@(?<group>0|[1-9a-f][0-9a-f]{0,7})@(?<hash>[0-9a-f]+)(?:@(?<salt>[^@]+))?");

  /** Refuses separators in names, and what is out of range. */
  public LmcacheSharedKey {
    Text.printable("model", Text.required("model", model));
    if (model.indexOf('@') >= 0) throw new IllegalArgumentException("model must not contain @: \"" + model + '"');
    Text.natural("objectGroup", objectGroup);
    Text.hash(hash);
    Text.printable("salt", salt);
    if (salt.length() > SALT_MAX || salt.chars().anyMatch(c -> c == '@' || c == '/' || c == '\\')) {
      throw new IllegalArgumentException("salt must be at most " + SALT_MAX + " characters without @, / and \\: \""
          + salt + '"');
    }
    Text.key(join(model, kvRank, objectGroup, hash, salt));
  }

  /** {@return the key} */
  public String text() {
    return join(model, kvRank, objectGroup, hash, salt);
  }

  /**
   * {@return the parts of a key; empty if it is no such key}
   *
   * @param key any text
   */
  public static Optional<LmcacheSharedKey> parse(String key) {
    Matcher form = FORM.matcher(key);
    if (!Text.isKey(key) || !form.matches()) return Optional.empty();
    String salt = form.group("salt");
    return Text
        .ifSound(() -> new LmcacheSharedKey(form.group("model"), Integer.parseUnsignedInt(form.group("rank"), 16),
            Integer.parseInt(form.group("group"), 16), form.group("hash"), salt == null ? "" : salt));
  }

  private static String join(String model, int kvRank, int objectGroup, String hash, String salt) {
    return model + '@' + String.format("%08x", kvRank) + '@' + Integer.toHexString(objectGroup) + '@' + hash
        + (salt.isEmpty() ? "" : '@' + salt);
  }
}
