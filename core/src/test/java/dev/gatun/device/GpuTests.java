package dev.gatun.device;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs the contract on the GPUs of this machine, without Maven: the build's own machines have none. */
public final class GpuTests {
  private GpuTests() {}

  /**
   * Exits with 0 if every test ran and passed.
   *
   * @param arguments none for both drivers, or {@code ffm}, or {@code lwjgl}
   */
  public static void main(String[] arguments) {
    String only = arguments.length == 0 ? "" : arguments[0];
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    if (!only.equals("lwjgl"))
      request.selectors(selectClass(FfmGpuTest.class),
          selectClass("dev.gatun.transfer.device.FfmGpuLinkTest"));
    if (!only.equals("ffm")) request.selectors(selectClass(LwjglGpuTest.class));
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request.build(), summary);
    PrintWriter out = new PrintWriter(System.out, true, UTF_8);
    summary.getSummary().printFailuresTo(out);
    summary.getSummary().printTo(out);
    boolean good = summary.getSummary().getTestsSucceededCount() > 0
        && summary.getSummary().getTotalFailureCount() == 0 && summary.getSummary().getTestsSkippedCount() == 0;
    System.exit(good ? 0 : 1);
  }
}
