package dev.gatun.fleet;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Stands before an engine, keeps connections alive, and answers some requests byte by byte as no well-behaved server does. */
final class OddServer implements AutoCloseable {
  /** Writes an answer, head and body; the connection is closed behind it. */
  interface Answer {
    void write(OutputStream out) throws IOException;
  }

  private final URI engine;
  private final ServerSocket server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
      .proxy(HttpClient.Builder.NO_PROXY).build();
  private final Map<String, Answer> odd = new ConcurrentHashMap<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private volatile boolean closesKept;

  OddServer(URI engine) throws IOException {
    this.engine = engine;
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    threads.execute(this::accept);
  }

  FleetEngine standalone() {
    return new FleetEngine(URI.create("http://127.0.0.1:" + server.getLocalPort()), EngineKind.VLLM,
        RolloutMode.STANDALONE, 0, List.of());
  }

  OddServer answering(String request, Answer answer) {
    odd.put(request, answer);
    return this;
  }

  OddServer answering(String request, String answer) {
    return answering(request, out -> out.write(answer.getBytes(StandardCharsets.ISO_8859_1)));
  }

  /** Closes a connection that was kept alive just when the next order arrives on it, as servers may at any time. */
  OddServer closingKept() {
    closesKept = true;
    return this;
  }

  /** Requests in order of arrival, those that were cut off too. */
  List<String> requests() {
    return requests;
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        threads.execute(() -> serve(socket));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      for (boolean kept = false;; kept = true) {
        String head = head(in);
        if (head.isEmpty()) return;
        String request = head.substring(0, head.indexOf(" HTTP/1.1"));
        byte[] body = in.readNBytes(length(head));
        requests.add(request);
        if (kept && closesKept && request.startsWith("POST")) return;
        Answer answer = odd.get(request);
        if (answer != null) {
          answer.write(out);
          return;
        }
        pass(request, body, out);
      }
    } catch (IOException hungUp) {
      // the client has had enough, or the test ends
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private void pass(String request, byte[] body, OutputStream out) throws IOException, InterruptedException {
    String[] parts = request.split(" ", 2);
    HttpResponse<byte[]> answer = client.send(HttpRequest.newBuilder(URI.create(engine + parts[1]))
        .method(parts[0], BodyPublishers.ofByteArray(body)).build(), BodyHandlers.ofByteArray());
    out.write(("HTTP/1.1 " + answer.statusCode() + " As Said\r\nContent-Length: " + answer.body().length + "\r\n\r\n")
        .getBytes(StandardCharsets.ISO_8859_1));
    out.write(answer.body());
    out.flush();
  }

  /** Request line and headers, empty at the end of a connection. */
  private static String head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    for (int next = in.read(); next >= 0; next = in.read()) {
      head.append((char) next);
      if (head.length() > 4 && head.substring(head.length() - 4).equals("\r\n\r\n")) return head.toString();
    }
    return "";
  }

  private static int length(String head) {
    return head.lines().filter(line -> line.regionMatches(true, 0, "Content-Length:", 0, 15))
        .mapToInt(line -> Integer.parseInt(line.substring(15).strip())).findFirst().orElse(0);
  }

  @Override
  public void close() throws IOException {
    server.close();
    client.shutdownNow();
    threads.shutdownNow();
  }
}
