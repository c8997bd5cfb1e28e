package dev.gatun.bench;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.StoreOptions;
import dev.gatun.bindings.mooncake.MooncakeLibraries;
import dev.gatun.memory.Slab;
import dev.gatun.nativelib.NativeEnvironment;
import dev.gatun.nativelib.NativeLibraries;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.KvStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The open stores of a launch, and the peers that use them for one cell at a time. */
final class PeerSet implements AutoCloseable {
  private final List<String> names;
  private final Slab slab;
  private final @Nullable KvStore store;
  private final @Nullable RawStore raw;
  private final @Nullable CLoop loop;

  private PeerSet(List<String> names, Slab slab, @Nullable KvStore store, @Nullable RawStore raw,
      @Nullable CLoop loop) {
    this.names = names;
    this.slab = slab;
    this.store = store;
    this.raw = raw;
    this.loop = loop;
  }

  static PeerSet open(StoreOptions options, List<String> names, Slab slab, EpochGate gate) {
    StoreOptions own = options;
    KvStore store = null;
    RawStore raw = null;
    if (names.contains(LaunchOptions.STORE_BATCH)) {
      // verbatim: the C program's keys, byte for byte
      store = KvStore.open(own, KeyCodec.verbatim(), gate, Observer.NONE);
      store.register(slab);
      own = own.toBuilder().segmentBytes(0).build();
    } else {
      load(own);
    }
    boolean inC = names.contains(LaunchOptions.C_IN_JVM);
    if (inC || names.contains(LaunchOptions.RAW_DOWNCALL)) raw = new RawStore(own, slab);
    return new PeerSet(names, slab, store, raw, inC ? new CLoop() : null);
  }

  private static void load(StoreOptions options) {
    boolean embedded = options.library().equals(StoreOptions.LOOPBACK);
    if (!embedded) NativeEnvironment.setenv("MC_FORCE_TCP", "1");
    MooncakeLibraries
        .load((embedded ? NativeLibraries.locateLoopback() : NativeLibraries.locateMooncake()).loadOrder());
  }

  /** {@return the peers for a cell; the caller closes them} */
  List<StorePeer> of(CellMemory cell) {
    List<StorePeer> peers = new ArrayList<>();
    if (store != null) peers.add(new BatchPeer(store, removal(store), cell));
    if (raw != null && names.contains(LaunchOptions.RAW_DOWNCALL)) peers.add(new RawPeer(raw, cell));
    if (raw != null && loop != null) peers.add(new CLoopPeer(loop, raw, cell));
    return peers;
  }

  private Runnable removal(KvStore product) {
    RawStore baseline = raw;
    return baseline != null ? baseline::removeAll : () -> product.removeAll(true);
  }

  @Override
  public void close() {
    if (raw != null) raw.close();
    if (store == null) return;
    store.unregister(slab);
    store.close();
  }
}
