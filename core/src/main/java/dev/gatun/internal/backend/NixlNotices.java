package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.EngineNotification;
import dev.gatun.bindings.nixl.NixlC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Reads messages out of an agent. In order for each sender; the library does not tell how senders interleaved. */
final class NixlNotices {
  private NixlNotices() {}

  /** {@return what has arrived since the last call} */
  static List<EngineNotification> take(long agent) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment out = call.allocate(JAVA_LONG);
      NixlAgent.check("notifications", NixlC.nixl_capi_create_notif_map(out), "no map");
      long map = out.get(JAVA_LONG, 0);
      try {
        NixlAgent.check("notifications", NixlC.nixl_capi_get_notifs(agent, map, 0), "of this agent");
        return read(call, map);
      } finally {
        NixlC.nixl_capi_destroy_notif_map(map);
      }
    }
  }

  private static List<EngineNotification> read(Arena call, long map) {
    MemorySegment size = call.allocate(JAVA_LONG);
    MemorySegment out = call.allocate(ADDRESS);
    NixlAgent.check("notifications", NixlC.nixl_capi_notif_map_size(map, size), "senders");
    long senders = size.get(JAVA_LONG, 0);
    if (senders == 0) return List.of();
    List<EngineNotification> arrived = new ArrayList<>();
    for (long sender = 0; sender < senders; sender++) {
      NixlAgent.check("notifications", NixlC.nixl_capi_notif_map_get_agent_at(map, sender, out), "sender " + sender);
      MemorySegment name = out.get(ADDRESS, 0);
      String from = NixlAgent.text(name);
      NixlAgent.check("notifications", NixlC.nixl_capi_notif_map_get_notifs_size(map, name, size), from);
      long messages = size.get(JAVA_LONG, 0);
      for (long i = 0; i < messages; i++) {
        NixlAgent.check("notifications", NixlC.nixl_capi_notif_map_get_notif(map, name, i, out, size), from);
        byte[] bytes = out.get(ADDRESS, 0).reinterpret(size.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
        arrived.add(new EngineNotification(from, bytes));
      }
    }
    return arrived;
  }
}
