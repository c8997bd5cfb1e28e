package dev.gatun.internal.backend;

import dev.gatun.backend.GatunException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Whether a build of Mooncake has a metadata client for a URL's scheme. It must be known beforehand: a build without it
 * aborts the process. The class name of each client stands in the file's type information, stripped or not.
 */
final class MetadataSupport {
  private static final Map<String, String> CLIENTS = Map.of("http", "HTTPStoragePluginE", "https", "HTTPStoragePluginE",
      "etcd", "EtcdStoragePluginE", "redis", "RedisStoragePluginE");

  private MetadataSupport() {}

  /**
   * Refuses a metadata server that the libraries cannot talk to.
   *
   * @param metadataServer {@code P2PHANDSHAKE}, which every build has, or a URL
   * @param libraries the files that will be loaded, and beside which the others of the set lie
   * @throws GatunException if no file has the client
   */
  static void require(String metadataServer, List<Path> libraries) {
    int end = metadataServer.indexOf("://");
    if (end < 0) return;
    String scheme = metadataServer.substring(0, end);
    String client = CLIENTS.get(scheme);
    if (client == null) throw new IllegalArgumentException("metadataServer has an unknown scheme: " + scheme);
    for (Path library : libraries) {
      if (mentions(library, client)) return;
      Path beside = library.resolveSibling("libtransfer_engine.so");
      if (Files.isRegularFile(beside) && mentions(beside, client)) return;
    }
    throw new GatunException("metadataServer " + scheme + "://... cannot be used: no metadata client for " + scheme
        + " is compiled into " + libraries + "; use P2PHANDSHAKE or another build of Mooncake");
  }

  private static boolean mentions(Path library, String text) {
    byte[] wanted = text.getBytes(StandardCharsets.US_ASCII);
    try (FileChannel file = FileChannel.open(library); Arena arena = Arena.ofConfined()) { // per call
      MemorySegment bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
      MemorySegment name = MemorySegment.ofArray(wanted);
      long last = bytes.byteSize() - wanted.length;
      for (long at = 0; at <= last; at++) {
        if (bytes.get(ValueLayout.JAVA_BYTE, at) == wanted[0]
            && MemorySegment.mismatch(bytes, at, at + wanted.length, name, 0, wanted.length) < 0) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      throw new GatunException("cannot read " + library + ": " + e.getMessage(), e);
    }
  }
}
