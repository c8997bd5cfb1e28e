package dev.gatun.cli.console;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.util.Map;

/** Maps and lists as JSON text. */
public final class Json {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Json() {}

  /** {@return one line} */
  public static String line(Map<String, ?> object) {
    return write(MAPPER, object);
  }

  /** {@return indented text} */
  public static String pretty(Map<String, ?> object) {
    return write(MAPPER.copy().enable(SerializationFeature.INDENT_OUTPUT), object);
  }

  /**
   * {@return the object that a text holds}
   *
   * @throws IllegalArgumentException if it holds none
   */
  public static Map<String, Object> parse(String text) {
    try {
      Map<String, Object> object = MAPPER.readValue(text,
          MAPPER.getTypeFactory().constructMapType(Map.class, String.class, Object.class));
      if (object == null) throw new IllegalArgumentException("not a JSON object: " + text);
      return object;
    } catch (JsonProcessingException malformed) {
      throw new IllegalArgumentException("not a JSON object: " + malformed.getOriginalMessage(), malformed);
    }
  }

  private static String write(ObjectMapper mapper, Map<String, ?> object) {
    try {
      return mapper.writeValueAsString(object);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("a value that is no JSON: " + object, impossible);
    }
  }
}
