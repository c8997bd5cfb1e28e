package dev.gatun.fleet;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.internal.http.HttpCaller;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.jspecify.annotations.Nullable;

/** Requests to one engine. Any thread; blocks to the deadline. Errors as {@link HttpCaller} has them. */
record EngineClient(HttpCaller caller, URI engine) {
  // 16 MiB: a description of an API is some hundred KiB, metrics less; unmeasured default
  private static final long ANSWER_BYTES_MAX = 16L << 20;

  EngineAnswer get(String path, Deadline deadline) {
    return send("GET", path, null, deadline);
  }

  /** Sends nothing once the deadline is reached: what nobody waits for would be done all the same. */
  EngineAnswer send(String method, String path, @Nullable String body, Deadline deadline) {
    String url = engine + path;
    if (deadline.reached()) throw new DeadlineException("no time was left to ask " + url);
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url)).method(method,
        body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (body != null) request.header("Content-Type", "application/json");
    HttpResponse<String> answer = caller.await(url,
        caller.send(request.build(), BodyHandlers.ofString(), ANSWER_BYTES_MAX), deadline);
    return new EngineAnswer(answer.statusCode(), answer.body());
  }
}
