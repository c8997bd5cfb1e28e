package dev.gatun.cli.replay;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between the replicas and a real master and can cut them off, so that every call fails while the master keeps
 * what it has. A master that is stopped instead would carry the removal out once it goes on. Listens on the loopback
 * interface.
 */
final class MasterRelay implements MasterSwitch, AutoCloseable {
  private final InetSocketAddress master;
  private final ServerSocket listener;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile boolean failing;

  /**
   * Begins to relay.
   *
   * @param master where to
   * @throws IOException if there is no free port
   */
  MasterRelay(InetSocketAddress master) throws IOException {
    this.master = master;
    listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("relay").start(this::accept);
  }

  /** {@return host and port to give to stores in place of the master's} */
  String address() {
    return listener.getInetAddress().getHostAddress() + ':' + listener.getLocalPort();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        if (failing) client.close();
        else
          connect(client);
      } catch (IOException closed) {
        // either the relay was closed, which ends the loop, or one client went away
      }
    }
  }

  private void connect(Socket client) throws IOException {
    Socket server = new Socket();
    open.add(client);
    open.add(server);
    server.connect(master);
    server.setTcpNoDelay(true);
    client.setTcpNoDelay(true);
    Thread.ofVirtual().start(() -> pump(client, server));
    Thread.ofVirtual().start(() -> pump(server, client));
  }

  private void pump(Socket from, Socket to) {
    try (from; to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException cut) {
      // the other side sees its end as well
    } finally {
      open.remove(from);
    }
  }

  @Override
  public void fail() {
    failing = true;
    closeAll();
  }

  @Override
  public void mend() {
    failing = false;
  }

  private void closeAll() {
    for (Socket socket : open)
      close(socket);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException gone) {
      // closed is what it should be
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    closeAll();
  }
}
