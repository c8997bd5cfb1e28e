package dev.gatun.connector;

import dev.gatun.backend.HostPort;
import dev.gatun.transfer.AttemptLine;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a worker side listens for its peers: each connection is told who this is, asks, one message after the other, and is
 * answered.
 */
final class PeerServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerServer.class);
  // 60 s: a peer that keeps a connection open without a word is gone; reads of a large hand-over lie in between
  private static final Duration SILENCE_MAX = Duration.ofSeconds(60);
  // 1,024: more peers at once than any fleet; bounds threads and memory
  private static final int CONNECTIONS_MAX = 1024;
  // 100 ms: without file handles each accept fails at once, and others need time to give theirs back
  private static final Duration ACCEPT_PAUSE = Duration.ofMillis(100);
  // 5 s: a thread that is woken comes to run within milliseconds, on a busy machine later
  private static final Duration ACCEPTING_MAX = Duration.ofSeconds(5);

  private final ServerSocket server;
  private final String host;
  private final UUID instance = UUID.randomUUID();
  private final Supplier<AttemptLine> lines;
  private final Function<PeerMessage, PeerMessage> answers;
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  // answers may block in native code, so these are no virtual threads; one that is idle is used again for 10 s, which saves a
  // hand-over the time to start it; unmeasured default
  private final ExecutorService serving = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS,
      new SynchronousQueue<>(), Thread.ofPlatform().daemon().name("gatun-peer-", 0).factory());
  private final Thread accepting = Thread.ofPlatform().daemon().name("gatun-peers").unstarted(this::accept);

  private PeerServer(ServerSocket server, String host, Supplier<AttemptLine> lines,
      Function<PeerMessage, PeerMessage> answers) {
    this.server = server;
    this.host = host;
    this.lines = lines;
    this.answers = answers;
  }

  /** Listens on a free port of a host; each connection has a line of its own, for as long as it is served. */
  static PeerServer start(String host, Supplier<AttemptLine> lines, Function<PeerMessage, PeerMessage> answers) {
    ServerSocket socket = null;
    try {
      @SuppressWarnings("AddressSelection") // the host decides the family, and there is one socket
      InetSocketAddress address = new InetSocketAddress(host, 0);
      socket = ServerSocketChannel.open().socket(); // what it accepts can be looked at without a wait
      socket.bind(address);
      PeerServer server = new PeerServer(socket, host, lines, answers);
      server.accepting.start();
      return server;
    } catch (IOException e) {
      close(socket);
      throw new IllegalStateException("worker side cannot listen on host " + host + ": " + e, e);
    } catch (RuntimeException | Error e) {
      close(socket);
      throw e;
    }
  }

  HostPort address() {
    return new HostPort(host, server.getLocalPort());
  }

  /** {@return peers that are connected} */
  int connections() {
    return connections.size();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        if (connections.size() >= CONNECTIONS_MAX || server.isClosed()) {
          socket.close();
          continue;
        }
        connections.add(socket);
        serveAside(socket);
      } catch (IOException e) {
        if (server.isClosed()) return;
        LOG.warn("a peer could not be accepted: {}", e.toString());
        LockSupport.parkNanos(ACCEPT_PAUSE.toNanos());
      }
    }
  }

  private void serveAside(Socket socket) {
    try {
      serving.execute(() -> serve(socket));
    } catch (RuntimeException | Error e) {
      LOG.error("a peer cannot be served", e);
      connections.remove(socket);
      close(socket);
    }
  }

  private void serve(Socket socket) {
    try (socket; AttemptLine line = lines.get()) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout((int) SILENCE_MAX.toMillis());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      PeerMessage.write(out, new PeerMessage.Hello(instance, line.first()));
      while (true) {
        PeerMessage question = PeerMessage.read(in);
        if (isMoot(question, socket.getChannel())) return;
        PeerMessage.write(out, answers.apply(question));
      }
    } catch (EOFException end) {
      // the peer has all it wanted
    } catch (IOException e) {
      if (!server.isClosed()) LOG.debug("a peer is gone: {}", e.toString());
    } finally {
      connections.remove(socket);
    }
  }

  /**
   * Whether pages are asked for by somebody who has gone meanwhile. A question may have lain here for long, as while this
   * process was stopped, and another may have the asker's name and memory by now.
   */
  private static boolean isMoot(PeerMessage question, SocketChannel from) throws IOException {
    boolean forPages = question instanceof PeerMessage.Room || question instanceof PeerMessage.Ask;
    return forPages && !PeerConnection.isQuiet(from);
  }

  /** The port refuses once this has returned: until its thread has left the system's call, the system goes on accepting. */
  @Override
  public void close() {
    close(server);
    try {
      accepting.join(ACCEPTING_MAX);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connections.forEach(PeerServer::close);
    serving.shutdown();
  }

  /** One that cannot be closed keeps no other open. */
  private static void close(@Nullable Closeable socket) {
    try {
      if (socket != null) socket.close();
    } catch (IOException e) {
      LOG.debug("closing: {}", e.toString());
    }
  }
}
