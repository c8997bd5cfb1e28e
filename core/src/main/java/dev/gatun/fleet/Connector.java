package dev.gatun.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * The store connector that an engine says it has.
 *
 * @param known whether it says so
 * @param names of connectors, those within a MultiConnector in its place; empty for none
 */
record Connector(boolean known, List<String> names) {
  static final Connector UNKNOWN = new Connector(false, List.of());
  private static final int NAME_MAX = 100;
  private static final String MULTI = "MultiConnector";
  private static final String STORE = "MooncakeStoreConnector";

  /** Of an engine's whole configuration. */
  static Connector of(JsonNode configuration) {
    JsonNode transfer = configuration.findValue("kv_transfer_config");
    if (transfer == null || !(transfer.isNull() || transfer.isObject())) return UNKNOWN;
    List<String> names = new ArrayList<>();
    collect(transfer, names);
    return new Connector(true, List.copyOf(names));
  }

  private static void collect(JsonNode transfer, List<String> names) {
    JsonNode name = transfer.path("kv_connector");
    if (name.isMissingNode() || name.isNull()) return;
    JsonNode children = transfer.path("kv_connector_extra_config").path("connectors");
    if (!name.asText().equals(MULTI) || children.isEmpty()) names.add(Line.of(name.asText(), NAME_MAX));
    else {
      children.forEach(child -> collect(child, names));
    }
  }

  /** Whether it is known that there is none, so that the engine puts nothing into any store. */
  boolean absent() {
    return known && names.isEmpty();
  }

  /** Those of which it is not known that a reset reaches them. */
  List<String> foreign() {
    return names.stream().filter(name -> !name.equals(STORE)).toList();
  }
}
