package dev.gatun.transfer.device;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A Unix socket that others connect to. Its file goes with it, unless another has taken the file's place. */
final class ListeningSocket {
  private final Path path;
  private final ServerSocketChannel channel;
  private final @Nullable Object file;

  private ListeningSocket(Path path, ServerSocketChannel channel, @Nullable Object file) {
    this.path = path;
    this.channel = channel;
    this.file = file;
  }

  static ListeningSocket bind(Path path) throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.bind(UnixDomainSocketAddress.of(path));
      return new ListeningSocket(path, channel, file(path));
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** {@return what tells the file at a path from another there} */
  private static @Nullable Object file(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
  }

  Path path() {
    return path;
  }

  /** Blocks until somebody connects, or it is closed. */
  SocketChannel accept() throws IOException {
    return channel.accept();
  }

  /** Nobody connects any more. */
  void close() throws IOException {
    channel.close();
    try {
      if (file != null && file.equals(file(path))) Files.delete(path);
    } catch (NoSuchFileException gone) {
      // somebody has tidied up
    }
  }
}
