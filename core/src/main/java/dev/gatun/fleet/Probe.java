package dev.gatun.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import java.util.Optional;
import java.util.stream.StreamSupport;

/**
 * Asks one engine what it is and what it can do. Only questions: nothing is changed. Whoever does not answer ends it with
 * the caller's exceptions.
 */
final class Probe {
  private static final int NOT_FOUND = 404;
  // builds state up to some 40 characters
  private static final int VERSION_MAX = 100;
  // so much of a router's list goes into a report: some fifty engines
  private static final int WORKERS_MAX = 2000;

  private final FleetEngine engine;
  private final EngineClient client;
  private final Deadline deadline;

  Probe(FleetEngine engine, EngineClient client, Deadline deadline) {
    this.engine = engine;
    this.client = client;
    this.deadline = deadline;
  }

  /** What came of it: capabilities, or the reason why this address cannot be refitted. */
  sealed interface Finding permits Found, Refused {}

  record Found(Capabilities capabilities) implements Finding {}

  record Refused(String reason) implements Finding {}

  Finding run() {
    Optional<String> router = router();
    if (router.isPresent()) return new Refused(router.get());
    Optional<String> version = version();
    if (version.isEmpty()) {
      return new Refused(engine.url() + " states no version as " + engine.kind() + " does: check kind and address");
    }
    EngineAnswer description = client.get("/openapi.json", deadline);
    JsonNode paths = description.field("paths");
    return engine.kind() == EngineKind.VLLM
        ? vllm(EngineVersion.of(Line.of(version.get(), VERSION_MAX)), paths)
        : sglang(EngineVersion.of(Line.of(version.get(), VERSION_MAX)), paths);
  }

  /** Routers are known by what they have, never by what they lack: they pass requests on without their query. */
  private Optional<String> router() {
    EngineAnswer workers = client.get("/list_workers", deadline);
    JsonNode urls = workers.field("urls");
    if (urls.isMissingNode()) return Optional.empty();
    return Optional.of(engine.url() + " is a router of " + urls.size() + " workers, which drops the query of a reset "
        + "and reports success: give the address of each engine, here " + Line.of(String.join(", ",
            StreamSupport.stream(urls.spliterator(), false).map(JsonNode::asText).toList()), WORKERS_MAX));
  }

  private Optional<String> version() {
    if (engine.kind() == EngineKind.VLLM) return version("/version");
    return version("/server_info").or(() -> version("/get_server_info"));
  }

  private Optional<String> version(String path) {
    EngineAnswer answer = client.get(path, deadline);
    String text = answer.field("version").asText("");
    return text.isBlank() ? Optional.empty() : Optional.of(text);
  }

  private Finding vllm(EngineVersion version, JsonNode paths) {
    boolean described = paths.isObject();
    // 405 to a question shows that there is something to post to
    boolean reset = described
        ? paths.has("/reset_prefix_cache")
        : client.get("/reset_prefix_cache", deadline).status() != NOT_FOUND;
    if (!reset) {
      return new Refused(engine.url() + " (vLLM " + version.text() + ") has no /reset_prefix_cache: start it with "
          + "VLLM_SERVER_DEV_MODE=1");
    }
    EngineAnswer paused = client.get("/is_paused", deadline);
    boolean pause = described ? paths.has("/pause") : paused.ok();
    boolean without = described && !hasParameter(paths.path("/reset_prefix_cache"), "reset_external");
    return new Found(new Capabilities(version, pause, Capabilities.external(version, without),
        described && paths.has("/abort_requests"), paused.states("is_paused", true), described,
        described ? paths.has("/is_paused") : paused.ok(), connector()));
  }

  /** It is not needed: an engine that does not say goes by its version. */
  private Connector connector() {
    try {
      EngineAnswer info = client.get("/server_info?config_format=json", FleetStore.share(deadline, 4));
      return info.ok() ? Connector.of(info.json()) : Connector.UNKNOWN;
    } catch (GatunException unsaid) {
      return Connector.UNKNOWN;
    }
  }

  /** Its description is read if there is one; to ask for a page of SGLang's administration is to use it. */
  private Finding sglang(EngineVersion version, JsonNode paths) {
    boolean described = paths.isObject();
    if (described && !paths.has("/flush_cache")) {
      return new Refused(engine.url() + " (SGLang " + version.text() + ") has no /flush_cache");
    }
    return new Found(new Capabilities(version, !described || paths.has("/pause_generation"),
        Capabilities.External.ABSENT, !described || paths.has("/abort_request"), false, described, false,
        Connector.UNKNOWN));
  }

  private static boolean hasParameter(JsonNode path, String name) {
    return StreamSupport.stream(path.path("post").path("parameters").spliterator(), false)
        .anyMatch(parameter -> parameter.path("name").asText().equals(name));
  }
}
