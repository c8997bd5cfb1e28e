package dev.gatun.device;

import dev.gatun.device.PushBed.Side;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;

/** The other process of {@link PushContract}, on another GPU where there is one. Lives until its standard input ends. */
final class PeerProcess {
  static final long SEED = 77;
  static final int PAGES = 4;

  private PeerProcess() {}

  /** Arguments: driver, {@code push}, {@code attach} or {@code own}, share in hexadecimal digits. */
  @SuppressWarnings("SystemOut")
  public static void main(String[] arguments) throws Exception {
    String driver = arguments[0];
    int ordinal = CudaDrivers.open(driver).deviceCount() > 1 ? 1 : 0;
    try (Device gpu = Device.open(driver, ordinal);
        DeviceStream stream = gpu.newStream("stream", StreamPriority.LOW);
        PageCopy kernels = PageCopy.load(gpu);
        DeviceEvent ready = gpu.newEvent("ready")) {
      switch (arguments[1]) {
        case "push" -> push(gpu, stream, kernels, stream.record(ready), ready, share(arguments[2]));
        case "attach" -> {
          try (PeerSlab theirs = gpu.attach("theirs", share(arguments[2]))) {
            System.out.println("attached " + theirs.byteSize());
            System.in.read();
          }
        }
        default -> {
          try (DeviceSlab slab = gpu.allocate("own", 1 << 22); SharedSlab shared = gpu.share(slab)) {
            System.out.println("owns " + HexFormat.of().formatHex(shared.share().encode()));
            System.in.read();
          }
        }
      }
    }
  }

  private static SlabShare share(String hex) {
    return SlabShare.decode(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
  }

  @SuppressWarnings("SystemOut")
  private static void push(Device gpu, DeviceStream stream, PageCopy kernels, DeviceStream recorded, DeviceEvent ready,
      SlabShare share) {
    Side side = Side.plain(PushContract.SHAPE, PushContract.BLOCKS);
    try (PushBed own = new PushBed(gpu, recorded, side, SEED); PeerSlab theirs = gpu.attach("theirs", share)) {
      PagedCache target = new PagedCache(side.layout(theirs.address()), List.of(theirs));
      try (PagePush push = PagePush.open(kernels, stream, own.cache(), target, PAGES, 3)) {
        for (int block = 1; block <= PAGES; block++)
          push.add(block, side.blocks() - block);
        push.send(ready).await(PushBed.soon());
      }
    }
    System.out.println("pushed");
  }
}
