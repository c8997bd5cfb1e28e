package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.device.CudaDrivers;
import dev.gatun.device.DriverReport;
import dev.gatun.nativelib.MooncakeRuntime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Everything that is measured of GPU pages, one program after the other on an idle GPU, with the raw probes beside it, in one
 * report. The probes are compiled here, where {@code nvcc} is; what cannot be compiled is left out, and the report says why.
 *
 * <p>Flags: {@code --suites NAME,..}, all of them unless given; {@code --nvcc FILE}; {@code --driver ffm|lwjgl|host} of the
 * suites that take one; {@code --quick yes|no}: few repeats of little, to see that all of it runs; {@code --output FILE}.
 */
public final class DeviceSuite {
  private static final String NVCC = "/usr/local/cuda/bin/nvcc";

  private final Launcher launcher;
  private final ProbePrograms probes;
  private final Map<String, Step> steps = new LinkedHashMap<>();

  /** What one suite does: its report. */
  private interface Step {
    JsonNode run() throws IOException;
  }

  private DeviceSuite(Path folder, Path nvcc, String driver, boolean quick) {
    launcher = new Launcher(folder.resolve("log"), Map.of());
    probes = new ProbePrograms(folder, nvcc);
    String repeats = quick ? "1" : "9";
    List<String> way = List.of("--driver", driver);
    List<String> small = quick
        ? List.of("--fragments", "4096", "--bytes", "4194304", "--repeats", "1", "--rounds", "3", "--sends", "10")
        : List.of();
    add("pageProbe", () -> probe("page_probe.cpp", List.of(probes.kernels().toString(), repeats), "-lcuda"));
    add("staging", () -> java(DeviceStaging.class, way, small));
    add("stagingLwjgl", () -> java(DeviceStaging.class, List.of("--driver", "lwjgl"), small));
    add("beside", this::beside);
    addStores(way, quick);
    add("storeMooncake", () -> mooncake(way, quick));
    add("push", () -> java(DevicePush.class, way, quick
        ? List.of("--fragments", "4096", "--pages", "4", "--grids", "8", "--repeats", "1", "--rounds", "3")
        : List.of()));
    add("pushBeside", () -> pushBeside(driver, quick));
    add("pushNixl", () -> java(PushNixl.class, way, quick
        ? List.of("--fragments", "4096", "--bytes", "4194304", "--repeats", "1")
        : List.of()));
    add("jmh", () -> jmh(quick));
    // last, since drivers were seen to end on it
    add("queue", () -> probe("page_probe.cpp", List.of("--queue"), "-lcuda"));
    add("batches", () -> probe("page_probe.cpp", List.of("--batches"), "-lcuda"));
  }

  /** By turns, since memory copies of a shared host differ from minute to minute. */
  private void addStores(List<String> way, boolean quick) {
    List<String> size = quick
        ? List.of("--fragments", "4096", "--bytes", "8388608", "--group", "4194304", "--workers", "2", "--repeats", "1")
        : List.of("--workers", "4,6");
    for (int turn = 1; turn <= (quick ? 1 : 2); turn++) {
      add("storeProbe" + turn, () -> probe("store_probe.cu", List.of(quick ? "1" : "5"), "-Xcompiler", "-pthread"));
      add("store" + turn, () -> java(DeviceStore.class, way, size));
    }
  }

  private JsonNode mooncake(List<String> way, boolean quick) throws IOException {
    if (MooncakeRuntime.installed().isEmpty()) throw new LeftOutException("Mooncake is not installed");
    return java(DeviceStore.class, way, List.of("--library", "mooncake", "--bytes", quick ? "8388608" : "536870912",
        "--group", quick ? "4194304" : "67108864", "--workers", "1,4", "--repeats", quick ? "1" : "5"));
  }

  private void add(String name, Step step) {
    steps.put(name, step);
  }

  /**
   * Measures and prints.
   *
   * @param arguments see above
   * @throws IOException if a file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String driver = flags.word("--driver", List.of("ffm", "lwjgl", "host"));
    Path nvcc = Path.of(flags.text("--nvcc", NVCC));
    boolean quick = flags.word("--quick", List.of("no", "yes")).equals("yes");
    Path folder = Files.createTempDirectory("gatun-suite");
    DeviceSuite suite = new DeviceSuite(folder, nvcc, driver, quick);
    List<String> names = flags.words("--suites", List.copyOf(suite.steps.keySet()));
    String output = flags.text("--output", "");
    flags.requireKnown();
    if (!suite.steps.keySet().containsAll(names)) {
      throw new IllegalArgumentException("--suites must be of " + suite.steps.keySet() + ": " + names);
    }
    ObjectNode report = Machine.describe();
    DriverReport gpus = CudaDrivers.probe(driver);
    report.put("cuda", gpus.version()).put("gpus", gpus.devices().toString());
    int failed = suite.run(names, report, output);
    System.out.println(report.put("failed", failed).toPrettyString());
    System.exit(failed == 0 ? 0 : 1);
  }

  /** Runs them in the order given; what is done is kept whatever comes after it. {@return how many failed} */
  private int run(List<String> names, ObjectNode report, String output) throws IOException {
    ObjectNode suites = report.putObject("suites");
    int failed = 0;
    for (String name : names) {
      long start = System.nanoTime();
      System.err.println(name);
      try {
        suites.set(name, Objects.requireNonNull(steps.get(name)).run());
      } catch (LeftOutException absent) {
        suites.putObject(name).put("leftOut", absent.getMessage());
      } catch (IllegalStateException | UncheckedIOException broken) {
        suites.putObject(name).put("failed", broken.getMessage());
        failed++;
      }
      report.put(name + "Seconds", (System.nanoTime() - start) / 1_000_000_000);
      if (!output.isEmpty()) Files.writeString(Path.of(output), report.toPrettyString() + "\n");
    }
    return failed;
  }

  private JsonNode java(Class<?> main, List<String> way, List<String> more) throws IOException {
    List<String> arguments = new ArrayList<>(way);
    arguments.addAll(more);
    return launcher.result(launcher.startJava(main, arguments));
  }

  private JsonNode probe(String source, List<String> arguments, String... options) throws IOException {
    List<String> command = new ArrayList<>(List.of(probes.program(source, options).toString()));
    command.addAll(arguments);
    return launcher.result(launcher.start(command));
  }

  private JsonNode beside() throws IOException {
    Path product = probes.library("product.cu", "-lcublas");
    return java(DeviceBeside.class, List.of("--product", product.toString()), List.of());
  }

  private JsonNode pushBeside(String driver, boolean quick) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("--driver", driver));
    if (!driver.equals("host")) {
      arguments.addAll(List.of("--product", probes.library("product.cu", "-lcublas").toString()));
    }
    return java(PushBeside.class, arguments, quick
        ? List.of("--fragments", "4096", "--bytes", "4194304", "--grids", "8", "--rounds", "1", "--products", "4")
        : List.of());
  }

  /** JMH prints for people; its figures are in a file. */
  private JsonNode jmh(boolean quick) throws IOException {
    Path figures = Files.createTempFile("gatun-jmh", ".json");
    List<String> arguments = new ArrayList<>(
        List.of("DeviceStagingBenchmark", "-prof", "gc", "-f", "1", "-wi", "2", "-i",
            quick ? "1" : "3", "-foe", "true", "-rf", "json", "-rff", figures.toString()));
    launcher.text(launcher.startJava(org.openjdk.jmh.Main.class, arguments));
    return new ObjectMapper().readTree(Files.readString(figures));
  }
}
