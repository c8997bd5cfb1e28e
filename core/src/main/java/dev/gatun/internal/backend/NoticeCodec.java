package dev.gatun.internal.backend;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gatun.backend.EngineNotification;
import dev.gatun.bindings.mooncake.notify_msg;
import dev.gatun.internal.ffm.CStrings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Messages as the pair of C strings that Mooncake's engine carries. They travel as JSON text, where bytes that are not
 * UTF-8 would be replaced and a NUL would cut them off, so ours are base64 and marked as such in the name.
 */
final class NoticeCodec {
  private static final String MARK = "gatun1:";

  private NoticeCodec() {}

  /** {@return the structure, whose strings are in the arena} */
  static MemorySegment encode(Arena call, String from, byte[] message) {
    MemorySegment notice = notify_msg.allocate(call);
    notify_msg.name(notice, CStrings.encode(call, "from", MARK + from));
    notify_msg.msg(notice, call.allocateFrom(Base64.getEncoder().encodeToString(message)));
    return notice;
  }

  /** {@return the messages of a native array} */
  static List<EngineNotification> decode(MemorySegment notices, int count) {
    MemorySegment array = notices.reinterpret(notify_msg.sizeof() * count);
    List<EngineNotification> decoded = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      MemorySegment notice = notify_msg.asSlice(array, i);
      decoded.add(decode(text(notify_msg.name(notice)), text(notify_msg.msg(notice))));
    }
    return decoded;
  }

  private static EngineNotification decode(String name, String text) {
    if (name.startsWith(MARK)) {
      try {
        return new EngineNotification(name.substring(MARK.length()), Base64.getDecoder().decode(text));
      } catch (IllegalArgumentException notOurs) {
        // somebody else's text under our mark: handed on as it is
      }
    }
    return new EngineNotification(name, text.getBytes(UTF_8));
  }

  private static String text(MemorySegment string) {
    return string.address() == 0 ? "" : string.reinterpret(Long.MAX_VALUE).getString(0);
  }
}
