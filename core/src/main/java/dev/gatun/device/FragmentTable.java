package dev.gatun.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where the fragments of pages lie: a column of addresses, kept in pinned host memory and uploaded to the GPU, which
 * {@link PageCopy} reads. All fragments have one length and lie within slabs that the table was made for and holds open.
 *
 * <p>Filled, uploaded and cleared by one thread at a time; filling and uploading allocate nothing. Everything that uses the
 * table is queued on its one stream, so a new upload never overtakes a kernel that reads the old one.
 */
public final class FragmentTable extends DeviceResource {
  private final DeviceStream stream;
  private final List<DeviceSlab> slabs;
  private final long[] bases;
  private final long[] lastOffsets;
  private final long fragmentBytes;
  private final int capacity;
  private final UploadColumn column;
  private final MemorySegment host;
  private int count;
  private int uploadedCount;
  private long addressBits;
  private @Nullable PagedKvLayout verified;
  private long verifiedBits;
  private long[] firstPlaces = {}; // of the verified layout's fragments in its block 0
  private long[] places = {};

  private FragmentTable(String name, DeviceStream stream, List<DeviceSlab> slabs, long fragmentBytes, int capacity) {
    super(stream.device(), name);
    this.stream = stream;
    this.slabs = List.copyOf(slabs);
    this.fragmentBytes = fragmentBytes;
    this.capacity = capacity;
    bases = slabs.stream().mapToLong(DeviceSlab::address).toArray();
    lastOffsets = slabs.stream().mapToLong(slab -> slab.byteSize() - fragmentBytes).toArray();
    column = UploadColumn.allocate(device(), name, (long) capacity * Long.BYTES);
    host = column.host();
  }

  /**
   * Allocates an empty table. Blocks.
   *
   * @param name for messages
   * @param stream of {@link Device#newStream}; where uploads and the kernels that use the table are queued
   * @param slabs where fragments may lie; held open until the table is closed
   * @param fragmentBytes length of every fragment, above 0
   * @param capacity most fragments, above 0
   * @return the table; the caller closes it
   * @throws DeviceException if there is not enough device memory
   */
  public static FragmentTable allocate(String name, DeviceStream stream, List<DeviceSlab> slabs, long fragmentBytes,
      int capacity) {
    stream.requireOurs();
    if (slabs.isEmpty()) throw new IllegalArgumentException("slabs must name at least one slab: []");
    slabs.forEach(slab -> slab.requireOn(stream.device()));
    if (fragmentBytes <= 0) throw new IllegalArgumentException("fragmentBytes must be positive: " + fragmentBytes);
    if (capacity <= 0) throw new IllegalArgumentException("capacity must be positive: " + capacity);
    FragmentTable table = new FragmentTable(name, stream, slabs, fragmentBytes, capacity);
    try {
      stream.hold(table);
      slabs.forEach(slab -> slab.hold(table));
      return stream.device().known(table);
    } catch (RuntimeException | Error e) {
      table.close();
      throw e;
    }
  }

  /** {@return fragments of so many pages} Refuses none, and more than a table can have. */
  static int fragments(PagedKvLayout layout, int pages) {
    int most = Integer.MAX_VALUE / layout.fragments();
    if (pages <= 0 || pages > most) {
      throw new IllegalArgumentException(String.format(Locale.ROOT,
          "capacity must be 1 to %d pages of %d fragments: %d", most, layout.fragments(), pages));
    }
    return pages * layout.fragments();
  }

  /**
   * Appends a fragment.
   *
   * @param slab index into the slabs that the table was made for
   * @param offset bytes from that slab's start to the fragment's
   * @throws IllegalStateException if the table is full
   * @throws IllegalArgumentException if the fragment does not lie within the slab
   */
  public void add(int slab, long offset) {
    requireOpen();
    if (count == capacity) throw new IllegalStateException(this + " is full: " + capacity + " fragments");
    if (slab < 0 || slab >= bases.length) {
      throw new IllegalArgumentException("slab must be 0 to " + (bases.length - 1) + ": " + slab);
    }
    if (offset < 0 || offset > lastOffsets[slab]) {
      throw new IllegalArgumentException(String.format(Locale.ROOT,
          "offset must be 0 to %d for %d bytes of %s: %d", lastOffsets[slab], fragmentBytes, slabs.get(slab), offset));
    }
    long address = bases[slab] + offset;
    host.setAtIndex(JAVA_LONG, count, address);
    addressBits |= address;
    count++;
  }

  /**
   * Appends the fragments of a block, in the order of its page.
   *
   * @param layout of a cache that lies in the slabs that the table was made for
   * @param block a block of it, not its null block
   * @return this
   * @throws IllegalStateException if the table has not room for all of them
   * @throws IllegalArgumentException if the layout's fragments have another length or lie outside the slabs, or it is the
   *     null block
   * @throws IndexOutOfBoundsException if the cache has no such block
   */
  public FragmentTable addBlock(PagedKvLayout layout, int block) {
    requireOpen();
    requireHolds(layout);
    if (layout.fragments() > capacity - count) {
      throw new IllegalStateException(this + " has room for " + (capacity - count) + " fragments, block " + block
          + " has " + layout.fragments());
    }
    layout.requireBlock(block);
    long distance = block * layout.blockBytes();
    for (int i = 0; i < places.length; i++)
      places[i] = firstPlaces[i] + distance;
    MemorySegment.copy(places, 0, host, JAVA_LONG, (long) count * Long.BYTES, places.length);
    addressBits |= verifiedBits;
    count += layout.fragments();
    return this;
  }

  /** Refuses a layout that does not lie in the slabs that the table was made for. */
  void requireHolds(PagedKvLayout layout) {
    if (!layout.equals(verified)) verify(layout);
  }

  /** A fragment moves by the same distance from block to block: if its first and last place are in a slab, all are. */
  private void verify(PagedKvLayout layout) {
    if (layout.fragmentBytes() != fragmentBytes) {
      throw new IllegalArgumentException(
          "layout must have fragments of " + fragmentBytes + " bytes, as the table has: " + layout);
    }
    int fragments = layout.fragments();
    long[] looked = new long[3 * fragments];
    MemorySegment written = MemorySegment.ofArray(looked);
    layout.write(0, written, 0);
    layout.write(Math.min(1, layout.blocks() - 1), written, fragments);
    layout.write(layout.blocks() - 1, written, 2L * fragments);
    long bits = 0;
    for (int i = 0; i < fragments; i++) {
      bits |= looked[i] | looked[fragments + i];
      requireInOneSlab(layout, looked[i], looked[2 * fragments + i]);
    }
    verifiedBits = bits;
    firstPlaces = Arrays.copyOf(looked, fragments);
    places = new long[fragments];
    verified = layout;
  }

  private void requireInOneSlab(PagedKvLayout layout, long first, long last) {
    for (int i = 0; i < bases.length; i++) {
      if (first >= bases[i] && first - bases[i] <= lastOffsets[i] && last - bases[i] <= lastOffsets[i]) return;
    }
    throw new IllegalArgumentException(String.format(Locale.ROOT,
        "layout must lie in the slabs of %s: %d bytes from 0x%x to 0x%x do not (%s)", this, fragmentBytes, first, last,
        layout));
  }

  /**
   * Queues the upload of what was added since the last one. Kernels may use it from now on. Does not wait.
   *
   * @return this
   */
  public FragmentTable upload() {
    enter();
    try {
      if (count > uploadedCount) {
        column.upload(stream, (long) uploadedCount * Long.BYTES, (long) (count - uploadedCount) * Long.BYTES);
        uploadedCount = count;
      }
    } finally {
      exit();
    }
    return this;
  }

  /** As {@link #upload}, admitted and with the context bound; nobody closes or clears it until the stream has done that. */
  void uploadBound(CudaDriver driver) {
    if (count == uploadedCount) return;
    column.uploadBound(driver, stream.handle(), (long) uploadedCount * Long.BYTES,
        (long) (count - uploadedCount) * Long.BYTES);
    uploadedCount = count;
  }

  /**
   * Empties the table, once its upload has left host memory. Blocks that long, which includes all that was queued on the
   * stream before the upload: fill two tables in turn where that counts.
   *
   * @param deadline when to give up
   * @return this
   * @throws DeadlineException if the upload is not done by then; nothing was cleared
   */
  public FragmentTable clear(Deadline deadline) {
    requireOpen();
    column.uploaded().await(deadline);
    count = 0;
    uploadedCount = 0;
    addressBits = 0;
    return this;
  }

  /** {@return fragments added since it was cleared} */
  public int count() {
    return count;
  }

  /** {@return most fragments} */
  public int capacity() {
    return capacity;
  }

  /** {@return the length of every fragment} */
  public long fragmentBytes() {
    return fragmentBytes;
  }

  /** {@return where its uploads, and the kernels that use it, are queued} */
  public DeviceStream stream() {
    return stream;
  }

  /** {@return the ones among the bits of all addresses: its lowest one is what all are aligned to} */
  long addressBits() {
    return addressBits;
  }

  /** {@return the device address of an entry} */
  long entryAddress(int index) {
    return column.deviceAddress() + (long) index * Long.BYTES;
  }

  /** {@return an entry} */
  long address(int index) {
    return host.getAtIndex(JAVA_LONG, index);
  }

  /** {@return the host address of an entry, for calls that read it before they return} */
  long hostAddress(int index) {
    return host.address() + (long) index * Long.BYTES;
  }

  /** Refuses entries that are not there. */
  void requireAdded(int first, int entries) {
    if (first < 0 || entries < 0 || first > count - entries) {
      throw new IllegalArgumentException(String.format(Locale.ROOT,
          "fragments must be added: %d from %d on asked of %d in %s", entries, first, count, this));
    }
  }

  /** Refuses entries that the GPU does not have. */
  void requireUploaded(int first, int entries) {
    if (first < 0 || entries < 0 || first > uploadedCount - entries) {
      throw new IllegalArgumentException(String.format(Locale.ROOT,
          "fragments must be uploaded: %d from %d on asked of %d in %s", entries, first, uploadedCount, this));
    }
  }

  @Override
  void awaitWork(Deadline deadline) {
    stream.awaitQueued(deadline, this);
  }

  @Override
  void destroy() {
    column.close();
    slabs.forEach(slab -> slab.letGo(this));
    stream.letGo(this);
  }
}
