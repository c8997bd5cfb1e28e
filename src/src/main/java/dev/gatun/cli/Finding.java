package dev.gatun.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One thing that {@code gatun doctor} looked at.
 *
 * @param what a constant name
 * @param state how it is
 * @param detail what was found, and where
 * @param fix what to do about it; empty if nothing
 */
record Finding(String what, State state, String detail, String fix) {

  /** How something is. */
  enum State {
    /** As it should be. */
    OK,
    /** Not there, and not needed by the embedded store. */
    ABSENT,
    /** Needed, and not there or not working. */
    BROKEN
  }

  static Finding ok(String what, String detail) {
    return new Finding(what, State.OK, detail, "");
  }

  static Finding absent(String what, String detail, String fix) {
    return new Finding(what, State.ABSENT, detail, fix);
  }

  static Finding broken(String what, String detail, String fix) {
    return new Finding(what, State.BROKEN, detail, fix);
  }

  Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("what", what);
    map.put("state", state.name().toLowerCase(java.util.Locale.ROOT));
    map.put("detail", detail);
    if (!fix.isEmpty()) map.put("fix", fix);
    return map;
  }
}
