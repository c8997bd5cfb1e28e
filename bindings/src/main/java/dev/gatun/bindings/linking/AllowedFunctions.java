package dev.gatun.bindings.linking;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

/** The functions of the allow-lists that jextract bound; each list travels as a resource beside its generated class. */
public final class AllowedFunctions {
  private static final String FUNCTION = "--include-function ";

  private AllowedFunctions() {}

  /**
   * {@return the functions of one allow-list, sorted}
   *
   * @param beside
   *            a class of the package that was generated from it
   * @param allowList
   *            its file name
   */
  public static List<String> of(Class<?> beside, String allowList) {
    try (InputStream in = beside.getResourceAsStream(allowList)) {
      if (in == null) {
        throw new IllegalStateException("allow-list " + allowList + " is missing from this module");
      }
      return new String(in.readAllBytes(), UTF_8).lines().filter(line -> line.startsWith(FUNCTION))
          .map(line -> line.substring(FUNCTION.length()).strip()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the allow-list " + allowList, e);
    }
  }
}
