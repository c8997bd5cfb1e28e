package dev.gatun.cli.pd;

import dev.gatun.cli.console.JsonFields;
import dev.gatun.device.HeadRange;
import dev.gatun.device.KvShape;
import dev.gatun.transfer.device.DevicePath;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where and how pages lie in device memory during {@code gatun pd}.
 *
 * @param kind {@code cuda}, or {@code host} for GPUs made of host memory
 * @param shape sizes of a block of the whole model
 * @param prefillRanks tensor-parallel degree of the prefill engine, of which rank 0 runs
 * @param decodeRanks of the decode engine, of which rank 0 runs
 * @param path the path to take; empty to choose
 * @param refitEvery every so many prompts decode refits in the middle of a hand-over; 0 for never
 */
public record PdDevice(String kind, KvShape shape, int prefillRanks, int decodeRanks, Optional<DevicePath> path,
    int refitEvery) {
  /** Chosen from what both sides can do. */
  public static final String AUTO = "auto";

  private static final String CUDA = "cuda";
  private static final String HOST = "host";
  private static final Pattern MODEL = Pattern.compile("(\\d{1,4})x(\\d{1,4})x(\\d{1,4})");
  private static final Pattern RANKS = Pattern.compile("(\\d{1,4}):(\\d{1,4})");
  private static final int BLOCK_TOKENS = 16; // vLLM's default
  private static final int ELEMENT_BYTES = 2; // bf16

  /** Refuses what cannot be. */
  public PdDevice {
    if (!kind.equals(CUDA) && !kind.equals(HOST)) {
      throw new IllegalArgumentException("--device must be none, cuda or host: \"" + kind + '"');
    }
    if (refitEvery < 0) throw new IllegalArgumentException("--refit-every must be 0 or more: " + refitEvery);
    HeadRange heads = HeadRange.common(shape.kvHeads(), prefillRanks, 0, decodeRanks, 0);
    if (heads.count() * shape.headBytes() % Long.BYTES != 0) {
      throw new IllegalArgumentException("--kv must have heads of a multiple of 8 bytes: " + shape);
    }
  }

  /**
   * {@return it, of what was given on the command line}
   *
   * @param kind {@code cuda} or {@code host}
   * @param kv layers, KV heads and head size of the model, such as {@code 80x8x128}
   * @param ranks tensor-parallel degrees, such as {@code 4:2}
   * @param path one of {@link DevicePath#words()}, or {@value #AUTO}
   * @param refitEvery as above
   */
  public static PdDevice of(String kind, String kv, String ranks, String path, int refitEvery) {
    int[] sizes = numbers("--kv", kv, MODEL, "layers, KV heads and head size, such as 80x8x128");
    int[] degrees = numbers("--tp", ranks, RANKS, "the degrees of prefill and decode, such as 4:2");
    KvShape shape = new KvShape(sizes[0], 2, sizes[1], sizes[2], BLOCK_TOKENS, ELEMENT_BYTES);
    return new PdDevice(kind, shape, degrees[0], degrees[1],
        path.equals(AUTO) ? Optional.empty() : Optional.of(DevicePath.of(path)), refitEvery);
  }

  private static int[] numbers(String option, String text, Pattern pattern, String wanted) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.matches()) throw new IllegalArgumentException(option + " must be " + wanted + ": \"" + text + '"');
    int[] numbers = new int[matcher.groupCount()];
    for (int i = 0; i < numbers.length; i++)
      numbers[i] = Integer.parseInt(matcher.group(i + 1));
    return numbers;
  }

  /** {@return bytes of a page as it goes over: the heads that both sides have} */
  public long pageBytes() {
    HeadRange heads = HeadRange.common(shape.kvHeads(), prefillRanks, 0, decodeRanks, 0);
    return shape.headBytes() * heads.count() * shape.blockTokens() * shape.parts() * shape.layers();
  }

  /** {@return what a side needs to know of it, for {@link #of(JsonFields)}} */
  Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("kind", kind);
    map.put("kv", shape.layers() + "x" + shape.kvHeads() + "x" + shape.headSize());
    map.put("tp", prefillRanks + ":" + decodeRanks);
    return map;
  }

  static PdDevice of(JsonFields map) {
    return of(map.text("kind"), map.text("kv"), map.text("tp"), AUTO, 0);
  }

  int ranks(PdSide side) {
    return side == PdSide.PREFILL ? prefillRanks : decodeRanks;
  }

  int otherRanks(PdSide side) {
    return side == PdSide.PREFILL ? decodeRanks : prefillRanks;
  }

  /** {@return the driver's name; empty for the one that the machine's configuration names} */
  Optional<String> driver() {
    return kind.equals(HOST) ? Optional.of(HOST) : Optional.empty();
  }
}
