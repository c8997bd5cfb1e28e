package dev.gatun.fleet;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads YAML, which JSON is as well. Every value is the text that stands there: YAML takes {@code 2024_01} for a number,
 * {@code 010} for eight and {@code on} for a truth value, which as the name of a run would name another one.
 */
final class FleetYaml {
  private static final YAMLFactory YAML = YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      .build();
  // 256 engines with every field take some 40 KiB; a bound, so that no wrong file fills the memory
  private static final int FILE_BYTES_MAX = 4 << 20;

  private FleetYaml() {}

  /**
   * Reads a file: one object.
   *
   * @return by name a text, a list or a map
   * @throws IllegalArgumentException if the file cannot be read, or is not that
   */
  static Map<String, Object> read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(FILE_BYTES_MAX + 1);
      if (bytes.length > FILE_BYTES_MAX) {
        throw new IllegalArgumentException(file + " must be at most " + FILE_BYTES_MAX + " bytes");
      }
      return parse(file.toString(), StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException foreign) {
      throw new IllegalArgumentException(file + " must be a text in UTF-8", foreign);
    } catch (IOException unreadable) {
      throw new IllegalArgumentException("cannot read " + file + ": " + unreadable, unreadable);
    }
  }

  private static Map<String, Object> parse(String file, String yaml) throws IOException {
    try (YAMLParser parser = YAML.createParser(yaml)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IllegalArgumentException(file + " must be one YAML object");
      }
      Map<String, Object> values = object(parser);
      if (parser.nextToken() == null) return values;
      throw new IllegalArgumentException(file + " must be one YAML object: something follows it at line "
          + parser.currentTokenLocation().getLineNr());
    } catch (JacksonException malformed) {
      throw new IllegalArgumentException(file + " must be one YAML object: " + malformed.getOriginalMessage()
          + (malformed.getLocation() == null
              ? ""
              : " at line " + malformed.getLocation().getLineNr() + ", column "
                  + malformed.getLocation().getColumnNr()),
          malformed);
    }
  }

  /** Fields without a value are left out. */
  private static Map<String, Object> object(YAMLParser parser) throws IOException {
    Map<String, Object> values = new LinkedHashMap<>();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      if (parser.nextToken() != JsonToken.VALUE_NULL) values.put(name, value(parser));
    }
    return values;
  }

  private static List<Object> list(YAMLParser parser) throws IOException {
    List<Object> values = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY)
      values.add(value(parser));
    return values;
  }

  private static Object value(YAMLParser parser) throws IOException {
    if (parser.isCurrentAlias()) {
      throw new IllegalArgumentException("aliases are not read, write out what is meant: \"*" + parser.getText()
          + "\" at line " + parser.currentTokenLocation().getLineNr());
    }
    return switch (parser.currentToken()) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> list(parser);
      default -> parser.getText();
    };
  }
}
