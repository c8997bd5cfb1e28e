package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Json;
import dev.gatun.internal.backend.PrometheusText;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A master's administration as the commands read it: plain GET requests, which grant no leases. Blocks, a minute at most.
 *
 * @param base its URL, without a slash at the end
 * @param answerMax longest time of a whole answer
 */
record MasterHttp(URI base, Duration answerMax) {
  // 5 s to connect and to begin an answer, a minute for the whole of it, 1 GiB at most: some ten million keys; unmeasured
  // defaults
  private static final Duration BEGIN_MAX = Duration.ofSeconds(5);
  private static final Duration ANSWER_MAX = Duration.ofSeconds(60);
  private static final long ANSWER_BYTES_MAX = 1L << 30;
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/._~:@!$'()*,;=-]+");

  MasterHttp(URI base) {
    this(base, ANSWER_MAX);
  }

  /** {@return names of complete objects} */
  Stream<String> keys() {
    return get("/get_all_keys").requireOk().lines().filter(line -> !line.isEmpty());
  }

  /**
   * {@return what the master knows of a key; empty if there is none} The master does not decode its query, so a key that
   * cannot stand in an address as it is can only be looked up among all keys.
   */
  Optional<Map<String, Object>> key(String key) {
    if (!PLAIN.matcher(key).matches()) {
      return keys().anyMatch(key::equals) ? Optional.of(Map.of("success", true)) : Optional.empty();
    }
    Answer answer = get("/query_key?key=" + key);
    return answer.code() == HttpURLConnection.HTTP_NOT_FOUND ? Optional.empty() : Optional.of(answer.requireObject());
  }

  /** {@return the segments} */
  Map<String, Object> segments() {
    return get("/get_segments_detail").requireObject();
  }

  /** {@return role and readiness} */
  Map<String, Object> health() {
    return get("/health").requireObject();
  }

  /** {@return gauges and counters by name} */
  Map<String, Long> metrics() {
    return PrometheusText.parse(get("/metrics").requireOk());
  }

  private Answer get(String path) {
    URI address = URI.create(base + path);
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(BEGIN_MAX)
        .proxy(HttpClient.Builder.NO_PROXY).followRedirects(HttpClient.Redirect.NEVER).build();
    CompletableFuture<HttpResponse<String>> answer = client.sendAsync(
        HttpRequest.newBuilder(address).timeout(BEGIN_MAX).build(),
        HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofString(), ANSWER_BYTES_MAX));
    try {
      HttpResponse<String> whole = answer.get(answerMax.toMillis(), TimeUnit.MILLISECONDS);
      return new Answer(address, whole.statusCode(), whole.body());
    } catch (ExecutionException unreachable) {
      throw unanswered(address, reason(unreachable));
    } catch (TimeoutException endless) {
      throw unanswered(address, "no end of the answer within " + answerMax.toMillis() + " ms");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw unanswered(address, "interrupted");
    } finally {
      client.shutdownNow();
    }
  }

  private static String reason(ExecutionException failure) {
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  private static CommandException unanswered(URI address, String reason) {
    return new CommandException(ExitCode.UNAVAILABLE, "the master's administration does not answer at " + address + ": "
        + reason + "; check --admin, and that the master runs");
  }

  private record Answer(URI address, int code, String text) {
    String requireOk() {
      if (code == HttpURLConnection.HTTP_OK) return text;
      throw new CommandException(ExitCode.FAILED, address + " answered with status " + code + ": " + text);
    }

    Map<String, Object> requireObject() {
      try {
        return Json.parse(requireOk());
      } catch (IllegalArgumentException foreign) {
        throw new CommandException(ExitCode.UNAVAILABLE,
            "no Mooncake master answers at " + address + ": " + foreign.getMessage() + "; check --admin");
      }
    }
  }
}
