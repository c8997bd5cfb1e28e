package dev.gatun.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** docs/cli-options.md is what the commands themselves say of their options. */
class DocumentedOptionsTest {
  private static final Set<String> EVERYWHERE = Set.of("--json", "--debug", "--native-log", "--help");

  @Test
  @DisplayName("every option of every command is documented, as the command itself says it")
  void documented() throws IOException {
    assertEquals(page(), Files.readString(Path.of(System.getProperty("gatun.root"), "docs", "cli-options.md")),
        "docs/cli-options.md must be what this test expects");
  }

  /** The page as it must be. */
  static String page() {
    CommandLine gatun = new CommandLine(new Gatun());
    CommandSpec any = Objects.requireNonNull(gatun.getSubcommands().get("replay")).getCommandSpec();
    String common = table(any.options().stream().filter(DocumentedOptionsTest::isEverywhere));
    return "# Options of the `gatun` command\n\nWhat each command prints with `--help`; a test compares the two. What they"
        + " are for stands in [cli.md](cli.md).\n\n## Every command\n\n" + common + commands(gatun, "");
  }

  private static String commands(CommandLine parent, String before) {
    StringBuilder text = new StringBuilder();
    parent.getSubcommands().forEach((name, command) -> {
      CommandSpec spec = command.getCommandSpec();
      if (spec.usageMessage().hidden()) return;
      String whole = before + ' ' + name;
      List<ArgSpec> own = Stream.concat(spec.positionalParameters().stream(),
          spec.options().stream().filter(option -> !isEverywhere(option))).map(ArgSpec.class::cast).toList();
      if (command.getSubcommands().isEmpty()) {
        text.append("\n## `gatun").append(whole).append("`\n\n");
        text.append(String.join(" ", spec.usageMessage().description())).append('\n');
        if (!own.isEmpty()) text.append('\n').append(table(own.stream()));
      }
      text.append(commands(command, whole));
    });
    return text.toString();
  }

  private static boolean isEverywhere(OptionSpec option) {
    return EVERYWHERE.contains(option.longestName());
  }

  private static String table(Stream<? extends ArgSpec> arguments) {
    return arguments
        .map(argument -> "| `" + name(argument) + "` | " + String.join(" ", argument.description()).replace("|",
            "\\|") + (argument.required() && argument instanceof OptionSpec ? "; required" : "") + " |\n")
        .collect(Collectors.joining("", "| option | meaning |\n|---|---|\n", ""));
  }

  private static String name(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option)) return argument.paramLabel();
    String label = option.arity().max() == 0 ? "" : ' ' + option.paramLabel();
    return String.join(", ", option.names()) + label.replace("|", "\\|");
  }
}
