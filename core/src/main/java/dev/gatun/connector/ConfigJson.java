package dev.gatun.connector;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON objects to and from maps. A field given twice is refused, and so is anything after the object. */
final class ConfigJson {
  private static final ObjectMapper JSON = JsonMapper.builder().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private ConfigJson() {}

  /** @throws IllegalArgumentException if it is no JSON object, starting with {@code what} */
  static Map<?, ?> object(String what, String json) {
    Object value;
    try {
      value = JSON.readValue(json, Object.class);
    } catch (JacksonException e) {
      throw new IllegalArgumentException(what + " must be one JSON object: " + e.getOriginalMessage()
          + (e.getLocation() == null
              ? ""
              : " at line " + e.getLocation().getLineNr() + ", column " + e.getLocation().getColumnNr()),
          e);
    }
    if (value instanceof Map<?, ?> map) return map;
    throw new IllegalArgumentException(what + " must be one JSON object: " + PlainValues.shown(json));
  }

  static String text(Map<String, ? extends @Nullable Object> values) {
    try {
      return JSON.writeValueAsString(values);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("plain values are always JSON", e);
    }
  }
}
