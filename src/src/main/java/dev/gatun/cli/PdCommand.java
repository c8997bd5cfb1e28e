package dev.gatun.cli;

import dev.gatun.backend.ByteSize;
import dev.gatun.backend.OptionText;
import dev.gatun.cli.console.ExitCode;
import dev.gatun.cli.pd.PdDevice;
import dev.gatun.cli.pd.PdOptions;
import dev.gatun.cli.pd.PdReport;
import dev.gatun.cli.pd.PdRun;
import java.util.Optional;
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

  @Option(names = "--page-bytes", paramLabel = "SIZE", description = "bytes of a KV page in host memory, such as 18432 or 1m; default: 64k")
  String pageBytes = "";

  @Option(names = "--prompt-pages", paramLabel = "N", description = "pages of a prompt, handed over together; default: ${DEFAULT-VALUE}")
  int promptPages = 128;

  @Option(names = "--timeout", paramLabel = "TIME", description = "longest hand-over of a prompt, such as 30s; default: ${DEFAULT-VALUE}")
  String timeout = "30s";

  @Option(names = "--device", paramLabel = "NAME", description = "where pages are made, handed over and checked: none (host memory), cuda (a GPU a side, or one for both), or host (the same path on GPUs made of host memory); default: ${DEFAULT-VALUE}")
  String device = "none";

  @Option(names = "--path", paramLabel = "NAME", description = "with --device: same-host, nixl, staged (through host memory, by --engine), or auto, the fastest that both sides can take; default: ${DEFAULT-VALUE}")
  String path = PdDevice.AUTO;

  @Option(names = "--kv", paramLabel = "LxHxS", description = "with --device: layers, KV heads and head size of the model, in blocks of 16 tokens of 2-byte elements; default: ${DEFAULT-VALUE}")
  String kv = "4x8x128";

  @Option(names = "--tp", paramLabel = "P:D", description = "with --device: tensor-parallel degrees of prefill and decode, rank 0 of each runs; default: ${DEFAULT-VALUE}")
  String tp = "1:1";

  @Option(names = "--refit-every", paramLabel = "N", description = "with --device and the same-host path: decode refits in the middle of each N-th hand-over; default: ${DEFAULT-VALUE} (never)")
  int refitEvery = 0;

  @Override
  int run() {
    Optional<PdDevice> onDevice = device.equals("none")
        ? Optional.empty()
        : Optional.of(PdDevice.of(device, kv, tp, path, refitEvery));
    if (onDevice.isPresent() && !pageBytes.isEmpty()) {
      throw new IllegalArgumentException("--page-bytes is of host memory; with --device, --kv sizes pages");
    }
    if (onDevice.isEmpty() && (refitEvery != 0 || !path.equals(PdDevice.AUTO))) {
      throw new IllegalArgumentException("--path and --refit-every need --device cuda or host");
    }
    long bytes = onDevice.map(PdDevice::pageBytes).orElseGet(() -> ByteSize.parse("--page-bytes", pageBytes.isEmpty()
        ? "64k"
        : pageBytes));
    PdOptions options = new PdOptions(engine, pages, bytes, promptPages, OptionText.duration("--timeout", timeout),
        onDevice);
    PdReport report = PdRun.run(options, json, nativeLog);
    answer(report.map(), report.text());
    if (report.exitCode() != ExitCode.OK) System.err.println("gatun: " + report.complaint());
    return report.exitCode();
  }
}
