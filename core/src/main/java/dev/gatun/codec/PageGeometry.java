package dev.gatun.codec;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The shape of a page, as far as two hosts must agree on it to share bytes.
 *
 * @param layers that the page covers, 1 or more
 * @param kvHeads of the rank that holds it, 1 or more; 1 for latent attention
 * @param headSize elements of a head, 1 or more
 * @param blockTokens tokens a page, 1 or more
 */
public record PageGeometry(int layers, int kvHeads, int headSize, int blockTokens) {
  static final String FORM = "l(\\d+)h(\\d+)d(\\d+)b(\\d+)";
  private static final Pattern TEXT = Pattern.compile(FORM);

  /** Refuses sizes below 1. */
  public PageGeometry {
    positive("layers", layers);
    positive("kvHeads", kvHeads);
    positive("headSize", headSize);
    positive("blockTokens", blockTokens);
  }

  /** {@return the form that keys carry, such as {@code l28h4d128b16}} */
  public String text() {
    return "l" + layers + 'h' + kvHeads + 'd' + headSize + 'b' + blockTokens;
  }

  static Optional<PageGeometry> parse(String text) {
    Matcher form = TEXT.matcher(text);
    if (!form.matches()) return Optional.empty();
    return Text.ifSound(() -> new PageGeometry(Text.number(form.group(1)), Text.number(form.group(2)),
        Text.number(form.group(3)), Text.number(form.group(4)))).filter(parsed -> parsed.text().equals(text));
  }

  private static void positive(String field, int value) {
    if (value < 1) throw new IllegalArgumentException(field + " must be 1 or more: " + value);
  }
}
