package dev.gatun.internal.backend;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * An agent's metadata with a checksum before it. The library reads damaged metadata as far as it makes sense, keeps what
 * it has read, and takes no other metadata under that name for as long as the agent lives. Metadata without the head, as
 * other programs hand it out, is passed on as it is.
 */
final class NixlMetadata {
  /** Bytes before the library's own: a mark, and the CRC32C of what follows. */
  static final int HEAD_BYTES = 12;

  private static final long MARK = 0x674e_6978_6c4d_4431L; // "gNixlMD1"

  private NixlMetadata() {}

  static byte[] seal(byte[] metadata) {
    return ByteBuffer.allocate(HEAD_BYTES + metadata.length).putLong(MARK).putInt(checksum(metadata)).put(metadata)
        .array();
  }

  /**
   * {@return what the library takes}
   *
   * @param peer for the message
   * @param sealed from a peer
   * @throws EngineException if it is empty, or its checksum is that of something else
   */
  static byte[] open(String peer, byte[] sealed) {
    if (sealed.length == 0) throw refused(peer, "its descriptor has no metadata");
    ByteBuffer bytes = ByteBuffer.wrap(sealed);
    if (sealed.length < HEAD_BYTES || bytes.getLong() != MARK) return sealed;
    int checksum = bytes.getInt();
    byte[] metadata = Arrays.copyOfRange(sealed, HEAD_BYTES, sealed.length);
    if (metadata.length == 0 || checksum(metadata) != checksum) throw refused(peer, "its metadata is damaged");
    return metadata;
  }

  private static EngineException refused(String peer, String why) {
    return new EngineException("openSegment", EngineCode.METADATA, 0, peer + ": " + why);
  }

  private static int checksum(byte[] metadata) {
    CRC32C crc = new CRC32C();
    crc.update(metadata, 0, metadata.length);
    return (int) crc.getValue();
  }
}
