package dev.gatun.codec;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The key under which LMCache keeps a chunk in a remote backend, {@code mooncakestore://} among them:
 * {@code model@world@worker@hash@dtype[@layer][@tag%value…]}.
 *
 * @param model its full name; may hold the separator
 * @param world how many workers share the model, 1 or more
 * @param worker which of them
 * @param hash of the chunk, 64 bits in hex without leading zeros
 * @param dtype of the elements, such as {@code half}, {@code bfloat16}, {@code fp8_e4m3fn}
 * @param layer where each layer is an object of its own
 * @param tags {@code tag%value} each, without {@code @}
 */
public record LmcacheKey(String model, int world, int worker, String hash, String dtype, OptionalInt layer,
    List<String> tags) {
  // far above any number of workers; keeps this form apart from that of LmcacheSharedKey
  private static final int WORLD_MAX = 1_000_000;
  private static final String HASH = "0|[1-9a-f][0-9a-f]{0,15}";
  private static final String DTYPE = "[a-z][a-z0-9_]*";
  private static final String TAG = "[^@%]+%[^@]*";
  private static final Pattern FORM = Pattern.compile("(?<model>.+)@(?<world>\\d+)@(?<worker>\\d+)@(?<hash>" + HASH
      + ")@(?<dtype>" + DTYPE + ")(?:@(?<layer>\\d+))?(?<tags>(?:@" + TAG + ")*)");

  /** Refuses what is out of range, and what would be read back as another key. */
  public LmcacheKey {
    tags = List.copyOf(tags);
    Text.printable("model", Text.required("model", model));
    if (world < 1 || world > WORLD_MAX) {
      throw new IllegalArgumentException("world must be 1 to " + WORLD_MAX + ": " + world);
    }
    if (worker < 0 || worker >= world) {
      throw new IllegalArgumentException("worker must be 0 to " + (world - 1) + ": " + worker);
    }
    if (!hash.matches(HASH)) {
      throw new IllegalArgumentException("hash must be 1 to 16 hex digits without leading zeros: \"" + hash + '"');
    }
    if (!dtype.matches(DTYPE)) throw new IllegalArgumentException("dtype must be like half, uint8: \"" + dtype + '"');
    if (layer.isPresent()) Text.natural("layer", layer.getAsInt());
    for (String tag : tags) {
      if (!Text.printable("tag", tag).matches(TAG)) {
        throw new IllegalArgumentException("tag must be name%value without @: \"" + tag + '"');
      }
    }
    Matcher form = FORM.matcher(Text.key(join(model, world, worker, hash, dtype, layer, tags)));
    if (!form.matches() || !form.group("model").equals(model)) {
      throw new IllegalArgumentException("model must not be such that its key is one of another model: \"" + model
          + '"');
    }
  }

  /**
   * {@return a chunk of one object, without tags}
   *
   * @param model see the record
   * @param world see the record
   * @param worker see the record
   * @param hash see the record
   * @param dtype see the record
   */
  public static LmcacheKey of(String model, int world, int worker, String hash, String dtype) {
    return new LmcacheKey(model, world, worker, hash, dtype, OptionalInt.empty(), List.of());
  }

  /** {@return the key} */
  public String text() {
    return join(model, world, worker, hash, dtype, layer, tags);
  }

  /**
   * Reads a key from right to left, since the model's name may hold the separator.
   *
   * @param key any text
   * @return its parts; empty if it is no such key
   */
  public static Optional<LmcacheKey> parse(String key) {
    Matcher form = FORM.matcher(key);
    if (!Text.isKey(key) || !form.matches()) return Optional.empty();
    String layer = form.group("layer");
    return Text.ifSound(() -> new LmcacheKey(form.group("model"), Text.number(form.group("world")),
        Text.number(form.group("worker")), form.group("hash"), form.group("dtype"),
        layer == null ? OptionalInt.empty() : OptionalInt.of(Text.number(layer)), tags(form.group("tags"))))
        .filter(parsed -> parsed.text().equals(key));
  }

  private static List<String> tags(String text) {
    List<String> tags = new ArrayList<>();
    for (int at = 0; at < text.length();) {
      int end = text.indexOf('@', at + 1);
      if (end < 0) end = text.length();
      tags.add(text.substring(at + 1, end));
      at = end;
    }
    return tags;
  }

  private static String join(String model, int world, int worker, String hash, String dtype, OptionalInt layer,
      List<String> tags) {
    StringBuilder text = new StringBuilder(model).append('@').append(world).append('@').append(worker).append('@')
        .append(hash).append('@').append(dtype);
    if (layer.isPresent()) text.append('@').append(layer.getAsInt());
    for (String tag : tags)
      text.append('@').append(tag);
    return text.toString();
  }
}
