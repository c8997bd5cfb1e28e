package dev.gatun.codec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Files of inputs and what must come out, with tabs between the columns. */
final class Vectors {
  private Vectors() {}

  static Stream<List<String>> lines(String file) throws IOException {
    try (InputStream in = Objects.requireNonNull(Vectors.class.getResourceAsStream(file), file);
        BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      List<List<String>> lines = reader.lines().filter(line -> !line.startsWith("#"))
          .map(line -> List.of(line.split("\t", -1))).toList();
      return lines.stream();
    }
  }

  /** {@code a..b}, {@code 100*7}, or a list. */
  static long[] tokens(String text) {
    if (text.equals("100*7")) return LongStream.range(0, 100).map(i -> (9 + 7 * i) % 250).toArray();
    int range = text.indexOf("..");
    if (range < 0) return Arrays.stream(text.split(",", -1)).mapToLong(Long::parseLong).toArray();
    return LongStream.rangeClosed(Long.parseLong(text.substring(0, range)), Long.parseLong(text.substring(range + 2)))
        .toArray();
  }
}
