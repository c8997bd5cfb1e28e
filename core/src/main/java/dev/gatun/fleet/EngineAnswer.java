package dev.gatun.fleet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;

/** What an engine answered. */
record EngineAnswer(int status, String body) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int OK = 200;
  // a message of an engine fits; a page of HTML does not belong into a report
  private static final int SHOWN_MAX = 200;

  boolean ok() {
    return status == OK;
  }

  boolean isEmpty() {
    return body.isBlank();
  }

  /** The body as JSON, a missing node if it is none. */
  JsonNode json() {
    try {
      JsonNode node = JSON.readTree(body);
      return node == null ? MissingNode.getInstance() : node;
    } catch (JsonProcessingException other) {
      return MissingNode.getInstance();
    }
  }

  /** A field of the body, a missing node too if the engine did not answer well. */
  JsonNode field(String name) {
    return ok() ? json().path(name) : MissingNode.getInstance();
  }

  /** Whether a field of the body is this truth value, and no word for it. */
  boolean states(String name, boolean value) {
    JsonNode field = field(name);
    return field.isBoolean() && field.booleanValue() == value;
  }

  String text() {
    return (status + " " + Line.of(body, SHOWN_MAX)).strip();
  }
}
