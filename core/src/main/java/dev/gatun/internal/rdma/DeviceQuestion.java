package dev.gatun.internal.rdma;

import dev.gatun.bindings.verbs.VerbsC;
import dev.gatun.bindings.verbs.gatun_verbs_device;
import dev.gatun.bindings.verbs.gatun_verbs_gid;
import dev.gatun.bindings.verbs.gatun_verbs_port;
import dev.gatun.rdma.GidType;
import dev.gatun.rdma.LinkLayer;
import dev.gatun.rdma.PortState;
import dev.gatun.rdma.RdmaDevice;
import dev.gatun.rdma.RdmaGid;
import dev.gatun.rdma.RdmaPort;
import dev.gatun.rdma.RegistrationErrors;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/** One device, asked for everything that is reported. It may go away between two questions: then that is the answer. */
final class DeviceQuestion {
  private static final int GIDS_MAX = 64; // of one port; a port has two for each IP address

  private final int library;
  private final String name;

  DeviceQuestion(int library, String name) {
    this.library = library;
    this.name = name;
  }

  RdmaDevice answer() {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment text = call.allocateFrom(name);
      MemorySegment device = gatun_verbs_device.allocate(call);
      int answer = VerbsC.gatun_verbs_query_device(library, text, device);
      if (answer != 0) {
        return RdmaDevice.faulty(name, step(gatun_verbs_device.failed_step(device)) + ": "
            + RegistrationErrors.name(-answer), RegistrationErrors.hint(-answer));
      }
      List<RdmaPort> ports = new ArrayList<>();
      for (int port = 1; port <= gatun_verbs_device.port_count(device); port++)
        ports.add(port(call, text, port));
      long limit = gatun_verbs_device.region_bytes_max(device);
      return new RdmaDevice(name, gatun_verbs_device.guid(device), gatun_verbs_device.firmware(device).getString(0),
          limit < 0 ? RdmaDevice.NO_LIMIT : limit, gatun_verbs_device.region_count_max(device), ports, "", "");
    }
  }

  private RdmaPort port(Arena call, MemorySegment text, int number) {
    MemorySegment port = gatun_verbs_port.allocate(call);
    int answer = VerbsC.gatun_verbs_query_port(library, text, number, port);
    if (answer != 0) {
      return new RdmaPort(number, PortState.UNKNOWN, LinkLayer.UNSPECIFIED, 0, 0, 0, 0, List.of(),
          "cannot be asked: " + RegistrationErrors.name(-answer));
    }
    int speed = LinkRate.megabitsPerSecond(gatun_verbs_port.width(port), gatun_verbs_port.speed(port));
    return new RdmaPort(number, state(gatun_verbs_port.state(port)), linkLayer(gatun_verbs_port.link_layer(port)),
        gatun_verbs_port.mtu_bytes(port), gatun_verbs_port.mtu_bytes_max(port), speed, gatun_verbs_port.lid(port),
        gids(call, text, number), "");
  }

  private List<RdmaGid> gids(Arena call, MemorySegment text, int port) {
    MemorySegment gids = gatun_verbs_gid.allocateArray(GIDS_MAX, call);
    int count = VerbsC.gatun_verbs_query_gids(library, text, port, gids, GIDS_MAX);
    List<RdmaGid> answer = new ArrayList<>();
    for (int i = 0; i < Math.min(count, GIDS_MAX); i++) {
      MemorySegment gid = gatun_verbs_gid.asSlice(gids, i);
      answer.add(new RdmaGid(gatun_verbs_gid.index(gid),
          address(gatun_verbs_gid.bytes(gid).toArray(ValueLayout.JAVA_BYTE)), gidType(gatun_verbs_gid.type(gid)),
          gatun_verbs_gid.interface_index(gid)));
    }
    return answer;
  }

  private static String address(byte[] gid) {
    try {
      return InetAddress.getByAddress(gid).getHostAddress();
    } catch (UnknownHostException e) {
      throw new AssertionError("16 bytes are an address", e);
    }
  }

  private static PortState state(int state) {
    return switch (state) {
      case 1 -> PortState.DOWN;
      case 2 -> PortState.INIT;
      case 3 -> PortState.ARMED;
      case 4 -> PortState.ACTIVE;
      case 5 -> PortState.DEFERRED;
      default -> PortState.UNKNOWN;
    };
  }

  private static LinkLayer linkLayer(int layer) {
    return switch (layer) {
      case 1 -> LinkLayer.INFINIBAND;
      case 2 -> LinkLayer.ETHERNET;
      default -> LinkLayer.UNSPECIFIED;
    };
  }

  private static GidType gidType(int type) {
    return switch (type) {
      case 0 -> GidType.INFINIBAND;
      case 1 -> GidType.ROCE_V1;
      case 2 -> GidType.ROCE_V2;
      default -> GidType.UNKNOWN;
    };
  }

  /** {@return a step of the shim in words} */
  static String step(int step) {
    return switch (step) {
      case 1 -> "finding the device";
      case 2 -> "opening the device";
      case 3 -> "asking for its limits";
      case 4 -> "mapping memory";
      case 5 -> "allocating a protection domain";
      case 6 -> "registering";
      case 7 -> "deregistering";
      default -> "calling libibverbs";
    };
  }
}
