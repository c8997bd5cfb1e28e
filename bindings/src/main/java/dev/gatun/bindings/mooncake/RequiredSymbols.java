package dev.gatun.bindings.mooncake;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Stream;

/** The functions of the allow-lists that jextract bound; the lists travel in this module as resources. */
final class RequiredSymbols {
  private static final String FUNCTION = "--include-function ";

  private RequiredSymbols() {}

  static List<String> all() {
    return Stream.concat(store().stream(), functions("mooncake_transfer_engine.includes")).toList();
  }

  static List<String> store() {
    return functions("mooncake_store.includes").toList();
  }

  private static Stream<String> functions(String allowList) {
    try (InputStream in = RequiredSymbols.class.getResourceAsStream(allowList)) {
      if (in == null) {
        throw new IllegalStateException("allow-list " + allowList + " is missing from this module");
      }
      return new String(in.readAllBytes(), UTF_8).lines().filter(line -> line.startsWith(FUNCTION))
          .map(line -> line.substring(FUNCTION.length()).strip());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the allow-list " + allowList, e);
    }
  }
}
