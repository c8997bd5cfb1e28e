package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreCensus;
import dev.gatun.backend.StoreException;
import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.MooncakeStoreC;
import dev.gatun.internal.ffm.CStrings;
import dev.gatun.internal.ffm.NativeHandle;
import dev.gatun.internal.ffm.ThrowAwayThread;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Creates and sets up native stores. A store that cannot be set up is destroyed, never handed out. */
final class StoreOpening {
  // host names are at most 253 bytes, a port 6, brackets 2; rounded up
  private static final int HOSTNAME_BYTES = 512;

  private StoreOpening() {}

  /**
   * Opens a store. Blocks.
   *
   * @param options checked options; the library is bound
   * @param create makes the native object
   * @param doubts what this process knows to spoil a proof of removal
   * @param census the administrator's view, null if there is none
   * @return the open store
   * @throws GatunException if the library refuses, naming the master and the code
   */
  static MooncakeStoreBackend open(StoreOptions options, Supplier<MemorySegment> create, List<String> doubts,
      @Nullable StoreCensus census) {
    OpenNatives.prepare();
    // creating can block signals in the calling thread, and setup starts threads that inherit its mask
    MooncakeStoreBackend store = ThrowAwayThread.call("gatun-open", () -> {
      MemorySegment pointer = create.get();
      if (pointer.address() == 0) throw new GatunException("the " + options.library() + " library created no store");
      NativeHandle<StoreCall> handle = new NativeHandle<>(MooncakeStoreBackend.name(options), pointer,
          MooncakeStoreC::mooncake_store_destroy, StoreCall.class);
      try {
        int code = setup(pointer, options);
        if (code != 0) throw refused(options, code);
        return new MooncakeStoreBackend(handle, options, hostname(pointer), doubts, census);
      } catch (RuntimeException e) {
        handle.close(Deadline.after(options.closeTimeout()));
        throw e;
      }
    });
    OpenNatives.add(store, store.name(), store::close);
    return store;
  }

  private static int setup(MemorySegment pointer, StoreOptions options) {
    try (Arena call = Arena.ofConfined()) { // per call: the strings are copied inside
      return MooncakeStoreC.mooncake_store_setup(pointer,
          CStrings.encode(call, "localHostname", options.localHostname()),
          CStrings.encode(call, "metadataServer", options.metadataServer()), options.segmentBytes(),
          options.localBufferBytes(), CStrings.encode(call, "protocol", options.protocol()),
          CStrings.encode(call, "devices", options.devices()), CStrings.encode(call, "master", options.master()));
    }
  }

  private static String hostname(MemorySegment pointer) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment buffer = call.allocate(HOSTNAME_BYTES);
      int code = MooncakeStoreC.mooncake_store_get_hostname(pointer, buffer, HOSTNAME_BYTES);
      if (code != 0) throw new StoreException("hostname", code, "buffer of " + HOSTNAME_BYTES + " bytes");
      return buffer.getString(0);
    }
  }

  private static GatunException refused(StoreOptions options, int code) {
    StoreException cause = new StoreException("setup", code, "master " + options.effective().get("master"));
    return new GatunException(
        cause.getMessage() + "; the library answers nearly every fault with this code, so look at: "
            + "the versions of library and master, which must be equal; localHostname " + options.localHostname()
            + " and its "
            + "port; memory for segmentBytes " + options.segmentBytes() + " and localBufferBytes "
            + options.localBufferBytes()
            + "; protocol " + options.protocol() + " and devices \"" + options.devices() + "\"; and the library's log"
            + RdmaAdvice.whyNotOpened(options.protocol(), options.devices()),
        cause);
  }
}
