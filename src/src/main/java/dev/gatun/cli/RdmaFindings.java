package dev.gatun.cli;

import dev.gatun.rdma.RdmaDevice;
import dev.gatun.rdma.RdmaDevices;
import dev.gatun.rdma.RdmaGid;
import dev.gatun.rdma.RdmaPort;
import dev.gatun.rdma.RdmaReport;
import dev.gatun.rdma.RegistrationTrial;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Which RDMA devices there are, how their ports are, and whether memory can be registered with them. */
final class RdmaFindings {
  // below the memlock limit of 8 MiB that systems set by default; unmeasured default
  private static final long TRIAL_BYTES = 1 << 20;

  private final RdmaReport report;
  private final Map<String, RegistrationTrial> trials = new LinkedHashMap<>();

  private RdmaFindings(RdmaReport report) {
    this.report = report;
    report.devices().stream().filter(device -> device.fault().isEmpty())
        .forEach(device -> trials.put(device.name(), RdmaDevices.tryRegister(device.name(), TRIAL_BYTES)));
  }

  /** Looks, and tries a small registration with each device. */
  static RdmaFindings look() {
    return new RdmaFindings(RdmaDevices.probe());
  }

  List<Finding> all() {
    if (report.devices().isEmpty()) {
      return List.of(Finding.absent("RDMA devices", report.missing() + "; transfers go over TCP", report.fix()));
    }
    List<Finding> findings = new ArrayList<>();
    String names = report.devices().stream().map(RdmaDevice::name).collect(Collectors.joining(", "));
    findings.add(Finding.ok("RDMA devices", names + ", through " + report.library()
        + (report.registersDmabuf() ? "" : ", which cannot register GPU memory as dma-buf")));
    for (RdmaDevice device : report.devices())
      findings.add(finding(device));
    return findings;
  }

  private Finding finding(RdmaDevice device) {
    String what = "RDMA " + device.name();
    RegistrationTrial trial = trials.get(device.name());
    if (trial == null) return Finding.absent(what, device.fault(), device.fix());
    String detail = device.describe() + "; " + trial.describe();
    if (!trial.worked()) return Finding.absent(what, detail, trial.fix());
    return device.isUsable()
        ? new Finding(what, Finding.State.OK, detail, device.remedy())
        : Finding.absent(what, detail, device.remedy());
  }

  Map<String, Object> map() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("library", report.library());
    map.put("registersDmabuf", report.registersDmabuf());
    map.put("devices", report.devices().stream().map(this::map).toList());
    return map;
  }

  private Map<String, Object> map(RdmaDevice device) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", device.name());
    map.put("usable", device.isUsable());
    RegistrationTrial trial = trials.get(device.name());
    if (trial == null) {
      map.put("fault", device.fault());
      return map;
    }
    map.put("guid", HexFormat.of().toHexDigits(device.guid()));
    map.put("firmware", device.firmware());
    if (device.regionBytesMax() != RdmaDevice.NO_LIMIT) map.put("regionBytesMax", device.regionBytesMax());
    map.put("regionCountMax", device.regionCountMax());
    map.put("registers", trial.worked());
    map.put("ports", device.ports().stream().map(RdmaFindings::map).toList());
    return map;
  }

  private static Map<String, Object> map(RdmaPort port) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("number", port.number());
    map.put("state", port.state().label());
    if (!port.fault().isEmpty()) map.put("fault", port.fault());
    map.put("linkLayer", port.linkLayer().label());
    map.put("mtuBytes", port.mtuBytes());
    map.put("mtuBytesMax", port.mtuBytesMax());
    map.put("megabitsPerSecond", port.megabitsPerSecond());
    map.put("lid", port.lid());
    map.put("gids", port.gids().stream().map(RdmaFindings::map).toList());
    return map;
  }

  private static Map<String, Object> map(RdmaGid gid) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("index", gid.index());
    map.put("address", gid.address());
    map.put("type", gid.type().label());
    map.put("interfaceIndex", gid.interfaceIndex());
    return map;
  }
}
