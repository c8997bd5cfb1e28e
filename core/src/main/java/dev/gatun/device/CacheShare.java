package dev.gatun.device;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A paged cache as another process of the same host and user may reach it: its memory by {@link SlabShare}s, and where in
 * that memory the blocks lie. No addresses travel, since each process has the memory elsewhere. Worth as much as the memory
 * itself, as a {@link SlabShare} is.
 *
 * @param slabs the memory
 * @param shape sizes of a block
 * @param strides distances inside each tensor
 * @param places where block 0 of each part lies, layer after layer, keys before values
 * @param blocks blocks of the cache
 * @param nullBlock the block that the engine reserves, or {@link PagedKvLayout#NO_NULL_BLOCK}
 * @param heads heads that take part
 */
public record CacheShare(List<SlabShare> slabs, KvShape shape, KvStrides strides, List<Place> places, int blocks,
    int nullBlock, HeadRange heads) {
  /**
   * A place in shared memory.
   *
   * @param slab number of the slab, from 0
   * @param offset bytes from its start
   */
  public record Place(int slab, long offset) {}

  // 4096: a tensor for each of two parts of 1,000 layers is half of that; bounds what a peer can make us open
  private static final int SLABS_MAX = 4096;
  private static final int PLACES_MAX = 1 << 16;

  /**
   * Checks.
   *
   * @throws IllegalArgumentException naming the field, its value and what is allowed
   */
  public CacheShare {
    slabs = List.copyOf(slabs);
    places = List.copyOf(places);
    within("slabs", slabs.size(), SLABS_MAX);
    within("places", places.size(), PLACES_MAX);
    for (Place place : places) {
      if (place.slab < 0 || place.slab >= slabs.size() || place.offset < 0
          || place.offset >= slabs.get(place.slab).bytes()) {
        throw new IllegalArgumentException("places must lie in one of " + slabs.size() + " slabs: " + place);
      }
    }
  }

  private static void within(String field, int count, int max) {
    if (count < 1 || count > max) throw new IllegalArgumentException(field + " must be 1 to " + max + ": " + count);
  }

  static CacheShare of(PagedCache cache, List<SharedSlab> shared) {
    PagedKvLayout layout = cache.layout();
    List<Place> places = layout.partAddresses().stream().map(address -> place(shared, address)).toList();
    return new CacheShare(shared.stream().map(SharedSlab::share).toList(), layout.shape(), layout.strides(), places,
        layout.blocks(), layout.nullBlock(), cache.heads());
  }

  private static Place place(List<SharedSlab> shared, long address) {
    for (int slab = 0; slab < shared.size(); slab++) {
      long offset = address - shared.get(slab).slab().address();
      if (offset >= 0 && offset < shared.get(slab).slab().byteSize()) return new Place(slab, offset);
    }
    throw new IllegalArgumentException("layout must lie in the memory that is shared: 0x" + Long.toHexString(address));
  }

  /** The cache, in memory that was attached in the order of {@link #slabs}. */
  PagedCache over(List<PeerSlab> attached) {
    List<Long> parts = places.stream().map(place -> attached.get(place.slab).address() + place.offset).toList();
    return new PagedCache(new PagedKvLayout(shape, strides, parts, blocks, nullBlock), List.copyOf(attached), heads);
  }

  /** {@return it as bytes, for {@link #decode}} */
  public byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(slabs.size());
      for (SlabShare slab : slabs)
        out.write(slab.encode());
      for (int size : sizes())
        out.writeInt(size);
      for (long stride : new long[]{strides.blockBytes(), strides.tokenBytes(), strides.headBytes()})
        out.writeLong(stride);
      out.writeInt(places.size());
      for (Place place : places) {
        out.writeInt(place.slab);
        out.writeLong(place.offset);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private int[] sizes() {
    return new int[]{shape.layers(), shape.parts(), shape.kvHeads(), shape.headSize(), shape.blockTokens(),
        shape.elementBytes(), blocks, nullBlock, heads.first(), heads.count()};
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @param bytes from a peer; nothing about them is trusted
   * @return the share
   * @throws IllegalArgumentException if they are cut short, have bytes left over, or hold what is out of range
   */
  public static CacheShare decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      List<SlabShare> slabs = new ArrayList<>();
      for (int left = count("slabs", in.readInt(), SLABS_MAX); left > 0; left--)
        slabs.add(SlabShare.decode(ByteBuffer.wrap(in.readNBytes(SlabShare.ENCODED_BYTES))));
      KvShape shape = new KvShape(in.readInt(), in.readInt(), in.readInt(), in.readInt(), in.readInt(), in.readInt());
      int blocks = in.readInt();
      int nullBlock = in.readInt();
      HeadRange heads = new HeadRange(in.readInt(), in.readInt());
      KvStrides strides = new KvStrides(in.readLong(), in.readLong(), in.readLong());
      List<Place> places = new ArrayList<>();
      for (int left = count("places", in.readInt(), PLACES_MAX); left > 0; left--)
        places.add(new Place(in.readInt(), in.readLong()));
      if (in.available() > 0) {
        throw new IllegalArgumentException(
            "a cache share must end after its places: " + in.available() + " bytes more");
      }
      return new CacheShare(slabs, shape, strides, places, blocks, nullBlock, heads);
    } catch (IOException e) {
      throw new IllegalArgumentException("a cache share must be whole: cut short at " + bytes.length + " bytes", e);
    }
  }

  private static int count(String field, int count, int max) {
    within(field, count, max);
    return count;
  }

  /** {@return sizes and heads, without what gives access} */
  @Override
  public String toString() {
    return heads + " of " + blocks + " blocks of " + shape;
  }
}
