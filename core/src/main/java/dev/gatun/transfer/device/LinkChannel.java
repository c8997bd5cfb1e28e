package dev.gatun.transfer.device;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Messages over a connected Unix socket. One thread receives. Threads of the link send; all others post, since an interrupt of
 * a thread that writes would close the channel.
 */
final class LinkChannel implements AutoCloseable {
  // blocks of the largest grant and a little; what is longer is no message of ours
  private static final int MESSAGE_MAX = LinkMessage.BLOCKS_MAX * Integer.BYTES + 4096;

  private final SocketChannel channel;
  private final ReentrantLock sending = new ReentrantLock();
  private final ExecutorService posting;

  LinkChannel(SocketChannel channel) {
    this.channel = channel;
    posting = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("gatun-device-post").factory());
  }

  static LinkChannel connect(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
      return new LinkChannel(channel);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  SocketChannel channel() {
    return channel;
  }

  /** Sends. Blocks while the peer does not read. {@return false if the peer is gone, which whoever receives learns as well} */
  boolean send(LinkMessage message) {
    byte[] bytes = message.encode();
    ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).flip();
    sending.lock();
    try {
      while (frame.hasRemaining())
        channel.write(frame);
      return true;
    } catch (IOException gone) {
      return false;
    } finally {
      sending.unlock();
    }
  }

  /** Sends later, in the order of posting. Does not block. */
  void post(LinkMessage message) {
    try {
      posting.execute(() -> send(message));
    } catch (RejectedExecutionException closed) {
      // whoever receives learns of the end as well
    }
  }

  /**
   * Waits for a message.
   *
   * @return the message, null at the end
   * @throws IllegalArgumentException if it is none of ours
   */
  @Nullable
  LinkMessage receive() {
    ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
    if (!fill(length)) return null;
    int bytes = length.flip().getInt();
    if (bytes < 1 || bytes > MESSAGE_MAX) {
      throw new IllegalArgumentException("message must have 1 to " + MESSAGE_MAX + " bytes: " + bytes);
    }
    ByteBuffer frame = ByteBuffer.allocate(bytes);
    return fill(frame) ? LinkMessage.decode(frame.array()) : null;
  }

  private boolean fill(ByteBuffer buffer) {
    try {
      while (buffer.hasRemaining())
        if (channel.read(buffer) < 0) return false;
      return true;
    } catch (IOException gone) {
      return false;
    }
  }

  @Override
  public void close() {
    posting.shutdown();
    try {
      channel.close();
    } catch (IOException e) {
      // it is closed all the same
    }
  }
}
