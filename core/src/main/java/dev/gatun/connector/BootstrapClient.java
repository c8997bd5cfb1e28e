package dev.gatun.connector;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.HostPort;
import dev.gatun.connector.P2pPlan.Source;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Asks bootstrap services where the workers of an engine are, and remembers it until an engine is not there any more. */
final class BootstrapClient implements AutoCloseable {
  // 5 s: a service answers within milliseconds
  private static final Duration CONNECT_MAX = Duration.ofSeconds(5);
  private static final String TCP = "tcp://";

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(CONNECT_MAX).build();
  private final Map<String, HostPort> known = new ConcurrentHashMap<>();

  /** Registers the worker of an engine: rank 0 of everything, since one worker holds all of a page. */
  void register(HostPort service, String engineId, HostPort worker) {
    String body = ConfigJson.text(Map.of("engine_id", engineId, "dp_rank", 0, "tp_rank", 0, "pp_rank", 0, "addr",
        TCP + worker));
    try {
      HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create("http://" + service + "/register"))
          .POST(BodyPublishers.ofString(body)), Deadline.after(CONNECT_MAX), waker -> {});
      if (answer.statusCode() != 200) {
        throw new IllegalStateException("bootstrap service " + service + " refused engine " + engineId + ": "
            + answer.body());
      }
    } catch (IOException e) {
      throw new IllegalStateException("bootstrap service " + service + " cannot be reached: " + e, e);
    }
  }

  /** The worker of the engine that a request names. Whoever waits is told how to end that. */
  HostPort worker(Source source, Deadline deadline, Consumer<Runnable> waits) throws IOException {
    HostPort cached = known.get(key(source));
    if (cached != null) return cached;
    HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(source.bootstrap() + "/query")).GET(),
        deadline, waits);
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

  private HttpResponse<String> send(HttpRequest.Builder request, Deadline deadline, Consumer<Runnable> waits)
      throws IOException {
    CompletableFuture<HttpResponse<String>> answer = http.sendAsync(request.build(), BodyHandlers.ofString());
    waits.accept(() -> answer.cancel(true));
    try {
      return answer.get(Math.max(1, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | CancellationException e) {
      answer.cancel(true);
      throw new IOException("no answer was waited for any longer", e);
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
