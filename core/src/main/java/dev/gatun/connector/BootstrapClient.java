package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Source;
import dev.gatun.internal.http.HttpCaller;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Asks bootstrap services where the workers of an engine are, and remembers it until an engine is not there any more. */
final class BootstrapClient implements AutoCloseable {
  // 5 s: a service answers within milliseconds
  private static final Duration CONNECT_MAX = Duration.ofSeconds(5);
  // 1 MiB: a worker takes some 60 bytes of it; unmeasured default
  private static final long ANSWER_BYTES_MAX = 1L << 20;
  private static final String TCP = "tcp://";

  private final HttpCaller caller = new HttpCaller("it", "check the address, and that the prefill engine runs",
      CONNECT_MAX);
  private final Map<String, HostPort> known = new ConcurrentHashMap<>();

  /** Registers the worker of an engine: rank 0 of everything, since one worker holds all of a page. */
  void register(HostPort service, String engineId, HostPort worker) {
    String body = ConfigJson.text(Map.of("engine_id", engineId, "dp_rank", 0, "tp_rank", 0, "pp_rank", 0, "addr",
        TCP + worker));
    try {
      String url = "http://" + service + "/register";
      HttpResponse<String> answer = send(url, HttpRequest.newBuilder(URI.create(url))
          .POST(BodyPublishers.ofString(body)).build(), Deadline.after(CONNECT_MAX), waker -> {});
      if (answer.statusCode() != 200) {
        throw new IllegalStateException("bootstrap service " + service + " refused engine " + engineId + ": "
            + answer.body());
      }
    } catch (IOException e) {
      throw new IllegalStateException("bootstrap service " + service + ": " + e.getMessage(), e);
    }
  }

  /** The worker of the engine that a request names. Whoever waits is told how to end that. */
  HostPort worker(Source source, Deadline deadline, Consumer<Runnable> waits) throws IOException {
    HostPort cached = known.get(key(source));
    if (cached != null) return cached;
    String url = source.bootstrap() + "/query";
    HttpResponse<String> answer = send(url, HttpRequest.newBuilder(URI.create(url)).GET().build(), deadline, waits);
    if (answer.statusCode() != 200) throw new IOException("it answered " + answer.statusCode());
    HostPort found = find(source.engineId(), answer.body());
    known.put(key(source), found);
    return found;
  }

  /** What was known of an engine is out of date. */
  void forget(Source source) {
    known.remove(key(source));
  }

  private static String key(Source source) {
    return source.bootstrap() + ' ' + source.engineId();
  }

  /**
   * Reads where a worker is reached.
   *
   * @throws IllegalArgumentException if that is no such place
   */
  static HostPort address(String text) {
    HostPort address = text.startsWith(TCP)
        ? HostPort.parse("addr", text.substring(TCP.length()), HostPort.NO_PORT)
        : null;
    if (address == null || address.port() == HostPort.NO_PORT) {
      throw new IllegalArgumentException("addr must be tcp://host:port: " + PlainValues.shown(text));
    }
    if (!address.isWildcard()) return address;
    throw new IllegalArgumentException(
        "addr must be where the worker is reached, not where it listens: " + PlainValues.shown(text));
  }

  private static HostPort find(String engineId, String body) throws IOException {
    try {
      for (Object entry : ConfigJson.object("answer", body).values()) {
        if (entry instanceof Map<?, ?> engine && engineId.equals(engine.get("engine_id"))
            && engine.get("worker_addr") instanceof Map<?, ?> byTensor
            && byTensor.get("0") instanceof Map<?, ?> byPipeline
            && byPipeline.get("0") instanceof String address) {
          return address(address);
        }
      }
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
    throw new IOException("it knows no worker of engine " + engineId);
  }

  private HttpResponse<String> send(String url, HttpRequest request, Deadline deadline, Consumer<Runnable> waits)
      throws IOException {
    CompletableFuture<HttpResponse<String>> answer = caller.send(request, BodyHandlers.ofString(), ANSWER_BYTES_MAX);
    waits.accept(() -> answer.cancel(true));
    try {
      return caller.await(url, answer, deadline);
    } catch (CancellationException ended) {
      throw new IOException("no answer was waited for any longer", ended);
    } catch (GatunException unanswered) {
      throw new IOException(unanswered.getMessage(), unanswered);
    }
  }

  @Override
  public void close() {
    caller.close();
  }
}
