package dev.gatun.cli;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.console.Json;
import dev.gatun.internal.backend.MasterAdmin;
import dev.gatun.internal.backend.PrometheusText;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * What the commands read of a master's administration. Blocks, a minute at most. Whatever does not answer, or is no
 * master, ends the command with {@link ExitCode#UNAVAILABLE}.
 *
 * @param base its URL, without a slash at the end
 * @param answerMax longest time of a whole answer
 */
record MasterReader(URI base, Duration answerMax) {
  // 5 s to connect and to begin an answer, a minute for the whole of it; unmeasured defaults
  private static final Duration BEGIN_MAX = Duration.ofSeconds(5);
  private static final Duration ANSWER_MAX = Duration.ofSeconds(60);
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/._~:@!$'()*,;=-]+");

  MasterReader(URI base) {
    this(base, ANSWER_MAX);
  }

  /** {@return names of complete objects} */
  List<String> keys() {
    return ask(master -> master.lines("/get_all_keys", Integer.MAX_VALUE, until())).stream()
        .filter(line -> !line.isEmpty()).toList();
  }

  /**
   * {@return what the master knows of a key; empty if there is none} The master does not decode its query, so a key that
   * cannot stand in an address as it is can only be looked up among all keys.
   */
  Optional<Map<String, Object>> key(String key) {
    if (!PLAIN.matcher(key).matches()) {
      return keys().contains(key) ? Optional.of(Map.of("success", true)) : Optional.empty();
    }
    return ask(master -> master.find("/query_key?key=" + key, until())).map(this::object);
  }

  /** {@return the segments} */
  Map<String, Object> segments() {
    return object(ask(master -> master.get("/get_segments_detail", until())));
  }

  /** {@return role and readiness} */
  Map<String, Object> health() {
    return object(ask(master -> master.get("/health", until())));
  }

  /** {@return gauges and counters by name} */
  Map<String, Long> metrics() {
    return PrometheusText.parse(ask(master -> master.get("/metrics", until())));
  }

  private <T> T ask(Function<MasterAdmin, T> question) {
    try (MasterAdmin master = new MasterAdmin(base.toString(), BEGIN_MAX, answerMax)) {
      master.requireMaster(until());
      return question.apply(master);
    } catch (GatunException unavailable) {
      throw unavailable(String.valueOf(unavailable.getMessage()));
    }
  }

  private Map<String, Object> object(String text) {
    try {
      return Json.parse(text);
    } catch (IllegalArgumentException foreign) {
      throw unavailable("no Mooncake master answers at " + base + ": " + foreign.getMessage());
    }
  }

  private Deadline until() {
    return Deadline.after(answerMax);
  }

  private static CommandException unavailable(String reason) {
    return new CommandException(ExitCode.UNAVAILABLE, reason + " (see --admin)");
  }
}
