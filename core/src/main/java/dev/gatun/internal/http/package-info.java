/**
 * The one HTTP client: short requests to administrations, each answer bounded in time and size.
 *
 * <p>Depends on {@code backend}.
 *
 * <pre>{@code
 * try (HttpCaller caller = new HttpCaller("the master's administration", "check the address", Duration.ofSeconds(2))) {
 *   HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:9003/health")).GET().build();
 *   String url = request.uri().toString();
 *   String health = caller.await(url, caller.send(request, BodyHandlers.ofString(), 1 << 20), deadline).body();
 * }}</pre>
 */
@NullMarked
package dev.gatun.internal.http;

import org.jspecify.annotations.NullMarked;
