package dev.gatun.cli;

import dev.gatun.cli.console.CommandException;
import dev.gatun.cli.console.ExitCode;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code gatun doctor}: what is there, what is not, and how to get it. */
@Command(name = "doctor", description = {
    "Says what was found and loaded, from where; what is missing, and how to get it.",
    "Exit code 4 if the embedded library does not work, or a master that was named does not answer."})
final class DoctorCommand extends GatunCommand {
  @Option(names = "--master", paramLabel = "HOST:PORT", description = "also ask whether this master answers")
  @Nullable
  String master;

  @Option(names = "--admin", paramLabel = "URL", description = "its administration; default: http://HOST:9003")
  @Nullable
  String admin;

  @Override
  int run() {
    List<Finding> findings = new ArrayList<>();
    List<RdmaFindings> rdma = new ArrayList<>();
    int code = withNativeLog(log -> {
      findings.addAll(new LibraryFindings(debug).all());
      rdma.add(RdmaFindings.look()); // the drivers of devices print what they miss
      return broken(findings) ? ExitCode.UNAVAILABLE : ExitCode.OK;
    });
    if (master != null || admin != null) findings.add(master());
    findings.addAll(MachineFindings.all());
    findings.addAll(rdma.getFirst().all());
    findings.addAll(DeviceFindings.all());
    Map<String, Object> map = new LinkedHashMap<>(Version.map());
    map.put("findings", findings.stream().map(Finding::map).toList());
    map.put("rdma", rdma.getFirst().map());
    map.put("healthy", !broken(findings));
    answer(map, text(findings));
    return broken(findings) ? ExitCode.UNAVAILABLE : code;
  }

  private Finding master() {
    String url = StoreConnection.adminUrl(master, admin);
    if (url.isEmpty()) throw usage("the master's administration is not known: --admin URL");
    URI address = URI.create(url);
    try {
      Map<String, Object> health = new MasterReader(address).health();
      return Boolean.TRUE.equals(health.get("service_ready"))
          ? Finding.ok("master", address + ": " + health.get("role") + ", serving")
          : Finding.broken("master", address + " is not ready: " + health, "see the master's log");
    } catch (CommandException unreachable) {
      return Finding.broken("master", String.valueOf(unreachable.getMessage()), "gatun mooncake run starts one");
    }
  }

  private static boolean broken(List<Finding> findings) {
    return findings.stream().anyMatch(finding -> finding.state() == Finding.State.BROKEN);
  }

  private static String text(List<Finding> findings) {
    StringBuilder text = new StringBuilder();
    Version.map().forEach((name, value) -> text.append(row("", name, value.toString())));
    for (Finding finding : findings) {
      String mark = switch (finding.state()) {
        case OK -> "ok";
        case ABSENT -> "-";
        case BROKEN -> "!!";
      };
      text.append(row(mark, finding.what(), finding.detail()));
      if (!finding.fix().isEmpty()) text.append(row("", "", "-> " + finding.fix()));
    }
    return text.toString();
  }

  private static String row(String mark, String name, String value) {
    return String.format(Locale.ROOT, "%-3s %-20s %s%n", mark, name, value);
  }
}
