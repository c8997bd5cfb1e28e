package dev.gatun.cli;

import dev.gatun.backend.ByteSize;
import dev.gatun.backend.OptionText;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.pd.PdOptions;
import dev.gatun.cli.pd.PdReport;
import dev.gatun.cli.pd.PdRun;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prefill and decode in two processes: {@code gatun pd}. */
@Command(name = "pd", sortOptions = false, description = {
    "Starts a prefill and a decode process on this machine, hands the KV of prompts from one to the other, and checks every "
        + "byte that arrives.",
    "Exit code 1 if one page was wrong, or a side ended early."})
final class PdCommand extends GatunCommand {
  @Option(names = "--engine", paramLabel = "NAME", description = "loopback (embedded) and mooncake push, nixl pulls; default: ${DEFAULT-VALUE}")
  String engine = "loopback";

  @Option(names = "--pages", paramLabel = "N", description = "pages to hand over; default: ${DEFAULT-VALUE}")
  int pages = 4096;

  @Option(names = "--page-bytes", paramLabel = "SIZE", description = "bytes of a KV page, such as 18432 or 1m; default: ${DEFAULT-VALUE}")
  String pageBytes = "64k";

  @Option(names = "--prompt-pages", paramLabel = "N", description = "pages of a prompt, handed over together; default: ${DEFAULT-VALUE}")
  int promptPages = 128;

  @Option(names = "--timeout", paramLabel = "TIME", description = "longest hand-over of a prompt, such as 30s; default: ${DEFAULT-VALUE}")
  String timeout = "30s";

  @Override
  int run() {
    PdOptions options = new PdOptions(engine, pages, ByteSize.parse("--page-bytes", pageBytes), promptPages,
        OptionText.duration("--timeout", timeout));
    PdReport report = PdRun.run(options, json, nativeLog);
    answer(report.map(), report.text());
    if (report.exitCode() != ExitCode.OK) System.err.println("gatun: " + report.complaint());
    return report.exitCode();
  }
}
