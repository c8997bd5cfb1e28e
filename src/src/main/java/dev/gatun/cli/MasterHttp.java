package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.internal.backend.PrometheusText;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A master's administration as the commands read it: plain GET requests, which grant no leases. Blocks, a few seconds at
 * most.
 *
 * @param base its URL
 */
record MasterHttp(URI base) {
  private static final int TIMEOUT_MILLIS = 5_000;
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/._~:@!$'()*,;=-]+");

  /** {@return names of complete objects} */
  Stream<String> keys() {
    return text("/get_all_keys").lines().filter(line -> !line.isEmpty());
  }

  /**
   * {@return what the master knows of a key, as JSON; empty if there is none} The master does not decode its query, so a
   * key that cannot stand in an address as it is can only be looked up among all keys.
   */
  Optional<String> key(String key) {
    if (!PLAIN.matcher(key).matches()) {
      return keys().anyMatch(key::equals) ? Optional.of("{\"success\": true}") : Optional.empty();
    }
    Answer answer = get("/query_key?key=" + key);
    return answer.code() == HttpURLConnection.HTTP_NOT_FOUND ? Optional.empty() : Optional.of(answer.requireOk());
  }

  /** {@return the segments, as JSON} */
  String segments() {
    return text("/get_segments_detail");
  }

  /** {@return role and readiness, as JSON} */
  String health() {
    return text("/health");
  }

  /** {@return gauges and counters by name} */
  Map<String, Long> metrics() {
    return PrometheusText.parse(text("/metrics"));
  }

  private String text(String path) {
    return get(path).requireOk();
  }

  private Answer get(String path) {
    URI address = URI.create(base + path);
    try {
      HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection(Proxy.NO_PROXY);
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      int code = connection.getResponseCode();
      try (InputStream body = code < 400 ? connection.getInputStream() : connection.getErrorStream()) {
        String text = body == null ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(address, code, text);
      }
    } catch (IOException unreachable) {
      throw new CommandException(ExitCode.UNAVAILABLE,
          "the master's administration does not answer at " + address + ": "
              + unreachable.getMessage() + "; check --admin, and that the master runs");
    }
  }

  private record Answer(URI address, int code, String text) {
    String requireOk() {
      if (code == HttpURLConnection.HTTP_OK) return text;
      throw new CommandException(ExitCode.FAILED, address + " answered with status " + code + ": " + text);
    }
  }
}
