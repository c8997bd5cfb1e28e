package dev.gatun.bench;

import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.MooncakeStoreC;
import dev.gatun.memory.Slab;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A store handle of the baselines' own. On the embedded library it meets the product's store in the same pool, where no
 * handle is nearer to the data than another.
 */
final class RawStore implements AutoCloseable {
  private final MemorySegment handle;
  private final Slab slab;

  /**
   * Opens a handle and registers the slab.
   *
   * @param options as for the product; the library must be loaded
   * @param slab memory of all cells
   */
  RawStore(StoreOptions options, Slab slab) {
    this.slab = slab;
    handle = MooncakeStoreC.mooncake_store_create();
    try (Arena call = Arena.ofConfined()) { // per call
      require("setup", MooncakeStoreC.mooncake_store_setup(handle, call.allocateFrom(options.localHostname()),
          call.allocateFrom(options.metadataServer()), options.segmentBytes(), options.localBufferBytes(),
          call.allocateFrom(options.protocol()), call.allocateFrom(options.devices()),
          call.allocateFrom(options.master())));
    }
    require("register", MooncakeStoreC.mooncake_store_register_buffer(handle, slab.segment(), slab.byteSize()));
  }

  MemorySegment handle() {
    return handle;
  }

  void removeAll() {
    if (MooncakeStoreC.mooncake_store_remove_all(handle, 1) < 0) throw new IllegalStateException("removeAll failed");
  }

  static void require(String call, long code) {
    if (code != 0) throw new IllegalStateException(call + " answered " + code);
  }

  @Override
  public void close() {
    require("unregister", MooncakeStoreC.mooncake_store_unregister_buffer(handle, slab.segment()));
    MooncakeStoreC.mooncake_store_destroy(handle);
  }
}
