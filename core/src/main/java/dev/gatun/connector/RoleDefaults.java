package dev.gatun.connector;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Fills in the roles that a prefill/decode configuration leaves out; never changes one that is given. */
final class RoleDefaults {
  private static final String ROLE = "kv_role";
  private static final String EXTRA = "kv_connector_extra_config";
  private static final String CHILDREN = "connectors";

  private RoleDefaults() {}

  /** The role is {@code kv_both}, or the parent's for a child of a {@code MultiConnector}. */
  static Map<Object, @Nullable Object> of(Map<?, ?> config) {
    Map<Object, @Nullable Object> filled = withRole(config, KvRole.BOTH.toString());
    if (ConnectorNames.MULTI.equals(config.get("kv_connector")) && config.get(EXTRA) instanceof Map<?, ?> extra
        && extra.get(CHILDREN) instanceof List<?> children) {
      Map<Object, @Nullable Object> filledExtra = new LinkedHashMap<>(extra);
      List<@Nullable Object> filledChildren = new ArrayList<>();
      for (Object child : children)
        filledChildren.add(child instanceof Map<?, ?> map ? withRole(map, filled.get(ROLE)) : child);
      filledExtra.put(CHILDREN, filledChildren);
      filled.put(EXTRA, filledExtra);
    }
    return filled;
  }

  private static Map<Object, @Nullable Object> withRole(Map<?, ?> config, @Nullable Object role) {
    Map<Object, @Nullable Object> filled = new LinkedHashMap<>(config);
    if (filled.get(ROLE) == null) filled.put(ROLE, role);
    return filled;
  }
}
