package dev.gatun.cli;

import dev.gatun.device.CudaDrivers;
import dev.gatun.device.DeviceInfo;
import dev.gatun.device.DriverReport;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Whether there is a GPU driver, and which GPUs it shows. Everything but GPU pages works without. */
final class DeviceFindings {
  private DeviceFindings() {}

  static List<Finding> all() {
    DriverReport report = CudaDrivers.probe();
    if (!report.usable()) return List.of(Finding.absent("GPU driver", report.missing(), report.fix()));
    return List.of(Finding.ok("GPU driver", report.version() + ", through " + report.name()), gpus(report));
  }

  private static Finding gpus(DriverReport report) {
    return report.devices().isEmpty()
        ? Finding.absent("GPUs", "the driver shows none", "see nvidia-smi and CUDA_VISIBLE_DEVICES")
        : Finding.ok("GPUs", report.devices().stream().map(DeviceFindings::describe).collect(Collectors.joining("; ")));
  }

  private static String describe(DeviceInfo gpu) {
    return String.format(Locale.ROOT, "%d: %s, %s, compute capability %d.%d", gpu.ordinal(), gpu.name(),
        (gpu.totalBytes() >> 30) + " GiB", gpu.computeMajor(), gpu.computeMinor());
  }
}
