package dev.gatun.internal.http;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.GatunException;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends requests over HTTP 1.1, without proxies and without following redirects, and waits for whole answers. Any thread.
 *
 * <p>No answer in time is a {@link DeadlineException}; whatever else keeps an answer from coming is another
 * {@link GatunException}. Both begin with who did not answer and name the address.
 */
public final class HttpCaller implements AutoCloseable {
  private final String who;
  private final String hint;
  private final HttpClient client;

  /**
   * Connects nowhere yet.
   *
   * @param who is called, as the subject of a sentence
   * @param hint what to look at when nobody can be reached
   * @param connect longest time to connect
   */
  public HttpCaller(String who, String hint, Duration connect) {
    this.who = who;
    this.hint = hint;
    client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(connect)
        .proxy(HttpClient.Builder.NO_PROXY).followRedirects(HttpClient.Redirect.NEVER).build();
  }

  /**
   * Sends a request. Does not block.
   *
   * @param request what to send
   * @param body what to do with the body
   * @param bytesMax longest body that is read
   * @return the answer to come
   */
  @SuppressWarnings("FutureReturnValueIgnored") // what follows a cancellation has no result of its own
  public <T> CompletableFuture<HttpResponse<T>> send(HttpRequest request, BodyHandler<T> body, long bytesMax) {
    CompletableFuture<HttpResponse<T>> answer = new CompletableFuture<>();
    // sendAsync completes on the common pool, whose threads may all be waiting for this answer
    Thread sender = Thread.ofVirtual().start(() -> {
      try {
        answer.complete(client.send(request, BodyHandlers.limiting(body, bytesMax)));
      } catch (IOException failed) {
        // what the reader of the body threw comes wrapped
        answer.completeExceptionally(failed.getCause() instanceof GatunException own ? own : failed);
      } catch (InterruptedException | RuntimeException | Error unanswered) {
        answer.completeExceptionally(unanswered);
      }
    });
    answer.whenComplete((done, problem) -> {
      if (answer.isCancelled()) sender.interrupt();
    });
    return answer;
  }

  /**
   * Waits. Blocks, to the deadline.
   *
   * @param url for messages
   * @param answer from {@link #send}, or made from it
   * @param deadline when to give up; the request is then cancelled
   * @return the answer
   * @throws DeadlineException if none came by then, or the thread was interrupted
   * @throws GatunException if none can come
   */
  public <T> T await(String url, CompletableFuture<T> answer, Deadline deadline) {
    long nanos = deadline.remainingNanos();
    try {
      return answer.get(nanos, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new DeadlineException(who + " did not answer " + url + " within " + TimeUnit.NANOSECONDS.toMillis(nanos)
          + " ms");
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new DeadlineException("interrupted while waiting for " + url);
    } catch (ExecutionException e) {
      throw unanswered(url, e.getCause() == null ? e : e.getCause());
    }
  }

  private GatunException unanswered(String url, Throwable cause) {
    if (cause instanceof GatunException refused) return refused;
    String message = who + " cannot be reached at " + url + ": " + cause + "; " + hint;
    return cause instanceof HttpTimeoutException ? new DeadlineException(message) : new GatunException(message, cause);
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
