package dev.gatun.connector;

import dev.gatun.codec.GatunKey;
import dev.gatun.store.KvKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How the blocks of a request are put together into objects: group number g holds the blocks from {@code g * size} on, all
 * or none. Its key is that of its last block, which names everything before it too, behind a prefix that carries the size.
 *
 * @param size blocks a group; 1 for none
 */
record PageGroups(int size) {
  private static final byte[] PREFIX = GatunKey.GROUP.getBytes(StandardCharsets.US_ASCII);

  /** Groups of a request, the last blocks that do not fill one left out. */
  int groups(int blocks) {
    return size == 1 ? 0 : blocks / size;
  }

  PageObject group(List<KvKey> keys, int group) {
    KvKey last = keys.get((group + 1) * size - 1);
    byte[] name = last.toBytes();
    byte[] start = GatunKey.group(size).getBytes(StandardCharsets.US_ASCII);
    byte[] key = Arrays.copyOf(start, start.length + name.length);
    System.arraycopy(name, 0, key, start.length, name.length);
    return new PageObject(KvKey.of(key), group * size, size);
  }

  static PageObject single(List<KvKey> keys, int block) {
    return new PageObject(keys.get(block), block, 1);
  }

  /** The single objects of a range of blocks. */
  static List<PageObject> singles(List<KvKey> keys, int from, int to) {
    List<PageObject> objects = new ArrayList<>();
    for (int block = from; block < to; block++)
      objects.add(single(keys, block));
    return objects;
  }

  /** Refuses block keys that look like those of groups, or leave no room for the prefix. */
  void requireBlockKeys(KvRequest request) {
    int room = KvKey.BYTES_MAX - (size == 1 ? 0 : GatunKey.group(size).length());
    for (int i = 0; i < request.keys().size(); i++) {
      KvKey key = request.keys().get(i);
      if (key.startsWith(PREFIX)) {
        throw new IllegalArgumentException("key " + i + " of request " + request.id() + " must not begin with "
            + GatunKey.GROUP + ": " + key);
      }
      if (key.length() > room) {
        throw new IllegalArgumentException("key " + i + " of request " + request.id() + " must be 1 to " + room
            + " bytes: " + key.length());
      }
    }
  }
}
