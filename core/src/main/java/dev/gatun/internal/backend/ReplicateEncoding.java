package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.gatun.backend.ReplicateOptions;
import dev.gatun.bindings.mooncake.mooncake_replicate_config;
import dev.gatun.internal.ffm.CStrings;
import dev.gatun.internal.ffm.NativeArguments;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Replicate options as the C structure. */
final class ReplicateEncoding {
  private ReplicateEncoding() {}

  /** {@return the structure, with its array of names, all owned by the arena} */
  static MemorySegment encode(ReplicateOptions options, Arena arena) {
    List<String> segments = options.preferredSegments();
    MemorySegment names = segments.isEmpty() ? MemorySegment.NULL : arena.allocate(ADDRESS, segments.size());
    for (int i = 0; i < segments.size(); i++) {
      names.setAtIndex(ADDRESS, i, CStrings.encode(arena, "preferredSegments", segments.get(i)));
    }
    MemorySegment config = mooncake_replicate_config.allocate(arena);
    mooncake_replicate_config.replica_num(config, options.replicas());
    mooncake_replicate_config.with_soft_pin(config, options.softPin() ? 1 : 0);
    mooncake_replicate_config.with_hard_pin(config, options.hardPin() ? 1 : 0);
    mooncake_replicate_config.preferred_segments(config, names);
    mooncake_replicate_config.preferred_segments_count(config, segments.size());
    return config;
  }

  /** Refuses what cannot be an encoding. */
  static void check(MemorySegment replicate) {
    NativeArguments.readable("replicate", replicate, mooncake_replicate_config.sizeof());
  }
}
