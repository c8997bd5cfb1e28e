package dev.gatun.internal.backend;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.internal.http.HttpCaller;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * GET requests to a master's administration, each with a deadline for the whole answer. They grant no leases. Any thread;
 * each call blocks until its answer is there.
 *
 * <p>Every failure is a {@link GatunException} that begins with what happened and names the address.
 */
public final class MasterAdmin implements AutoCloseable {
  // 1 GiB: some ten million keys; unmeasured default
  private static final long ANSWER_BYTES_MAX = 1L << 30;
  // every master that Gatun knows has it, and nothing else does
  private static final String OWN_GAUGE = "master_key_count";

  private final String url;
  private final Duration begin;
  private final Duration whole;
  private final HttpCaller caller;
  private volatile boolean recognised;

  /**
   * Connects nowhere yet.
   *
   * @param url its base, without a slash at the end
   * @param begin longest time until an answer begins
   * @param whole longest time of a whole answer
   */
  public MasterAdmin(String url, Duration begin, Duration whole) {
    this.url = url;
    this.begin = begin;
    this.whole = whole;
    this.caller = new HttpCaller("the master's administration", "check the address, and that the master runs", begin);
  }

  /** {@return the base} */
  public String url() {
    return url;
  }

  /**
   * Refuses whatever is no Mooncake master: the answers of something else could pass for keys. Asks once; whoever stands
   * behind the address later is believed.
   *
   * @param deadline when to give up
   */
  public void requireMaster(Deadline deadline) {
    if (recognised) return;
    if (!PrometheusText.parse(get("/metrics", deadline)).containsKey(OWN_GAUGE)) {
      throw new GatunException("no Mooncake master answers at " + url + ": its /metrics has no " + OWN_GAUGE
          + "; check the address");
    }
    recognised = true;
  }

  /**
   * {@return the body of an answer with status 200}
   *
   * @param path with a slash first
   * @param deadline when to give up
   */
  public String get(String path, Deadline deadline) {
    return find(path, deadline).orElseThrow(() -> refused(path, HttpURLConnection.HTTP_NOT_FOUND));
  }

  /**
   * {@return the body of an answer with status 200, empty if the status was 404}
   *
   * @param path with a slash first
   * @param deadline when to give up
   */
  public Optional<String> find(String path, Deadline deadline) {
    HttpResponse<String> response = await(path, send(path, BodyHandlers.ofString()), deadline);
    if (response.statusCode() == HttpURLConnection.HTTP_NOT_FOUND) return Optional.empty();
    if (response.statusCode() != HttpURLConnection.HTTP_OK) throw refused(path, response.statusCode());
    return Optional.of(response.body());
  }

  /**
   * {@return the first lines of an answer with status 200}
   *
   * @param path with a slash first
   * @param limit most lines
   * @param deadline when to give up
   */
  public List<String> lines(String path, int limit, Deadline deadline) {
    LineCollector collector = new LineCollector(limit);
    CompletableFuture<HttpResponse<Void>> answer = send(path, info -> {
      if (info.statusCode() != HttpURLConnection.HTTP_OK) throw refused(path, info.statusCode());
      return BodySubscribers.fromLineSubscriber(collector);
    });
    // whichever comes first: enough lines, all of them, or a failure
    try {
      return await(path, collector.lines().applyToEither(answer.thenCompose(response -> collector.lines()),
          taken -> taken), deadline);
    } finally {
      answer.cancel(true); // also after a deadline: the rest of a long list is not read on
    }
  }

  @Override
  public void close() {
    caller.close();
  }

  private <T> CompletableFuture<HttpResponse<T>> send(String path, BodyHandler<T> body) {
    return caller.send(HttpRequest.newBuilder(URI.create(url + path)).timeout(begin).GET().build(), body,
        ANSWER_BYTES_MAX);
  }

  private <T> T await(String path, CompletableFuture<T> answer, Deadline deadline) {
    return caller.await(url + path, answer, deadline.earlier(Deadline.after(whole)));
  }

  private GatunException refused(String path, int status) {
    return new GatunException("the master's administration answered " + url + path + " with " + status);
  }
}
