package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** GET requests to a master's administration, each with a deadline for the whole answer. */
final class MasterAdmin implements AutoCloseable {
  private final String url;
  private final long timeoutNanos;
  private final HttpClient client;

  MasterAdmin(String url, Duration timeout) {
    this.url = url;
    this.timeoutNanos = timeout.toNanos();
    this.client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout)
        .proxy(HttpClient.Builder.NO_PROXY).followRedirects(HttpClient.Redirect.NEVER).build();
  }

  String url() {
    return url;
  }

  /** {@return the body of an answer with status 200} */
  String get(String path, Deadline deadline) {
    CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request(path),
        HttpResponse.BodyHandlers.ofString());
    HttpResponse<String> response = await(path, answer, deadline);
    requireOk(path, response.statusCode());
    return response.body();
  }

  /** {@return the first lines of an answer with status 200} */
  List<String> lines(String path, int limit, Deadline deadline) {
    LineCollector collector = new LineCollector(limit);
    CompletableFuture<HttpResponse<Void>> answer = client.sendAsync(request(path), info -> {
      requireOk(path, info.statusCode());
      return HttpResponse.BodySubscribers.fromLineSubscriber(collector);
    });
    // whichever comes first: enough lines, all of them, or a failure
    List<String> lines = await(path, collector.lines().applyToEither(answer.thenCompose(response -> collector.lines()),
        taken -> taken), deadline);
    answer.cancel(true);
    return lines;
  }

  @Override
  public void close() {
    client.shutdownNow();
  }

  private HttpRequest request(String path) {
    return HttpRequest.newBuilder(URI.create(url + path)).GET().build();
  }

  private <T> T await(String path, CompletableFuture<T> answer, Deadline deadline) {
    long nanos = Math.min(timeoutNanos, deadline.remainingNanos());
    try {
      return answer.get(nanos, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new DeadlineException("the master's administration did not answer " + url + path + " within "
          + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms");
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new DeadlineException("interrupted while waiting for " + url + path);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      if (cause instanceof GatunException refused) throw refused;
      throw new GatunException("the master's administration cannot be reached at " + url + path + ": " + cause
          + "; check masterAdmin, and that the master runs", cause);
    }
  }

  private void requireOk(String path, int status) {
    if (status != 200)
      throw new GatunException("the master's administration answered " + url + path + " with " + status);
  }
}
