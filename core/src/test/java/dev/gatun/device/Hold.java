package dev.gatun.device;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gatun.backend.Deadline;
import dev.gatun.internal.device.HostCudaDriver;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/** A kernel that keeps a stream busy until it is released: {@code hold.ptx}. */
public final class Hold implements AutoCloseable {
  private static final VarHandle FLAG = ValueLayout.JAVA_INT.varHandle();

  private final Device device;
  private final DeviceStream stream;
  private final Slab slab = Slab.allocate(SlabOptions.of("hold", Integer.BYTES));
  private final PinnedSlab flag;
  private final long module;

  public Hold(DeviceStream stream) throws IOException {
    this.stream = stream;
    device = stream.device();
    flag = device.pin(slab);
    if (device.driver() instanceof HostCudaDriver host) define(host);
    String ptx;
    try (InputStream in = Hold.class.getResourceAsStream("hold.ptx")) {
      ptx = new String(Objects.requireNonNull(in).readAllBytes(), US_ASCII);
    }
    try (KernelArguments arguments = new KernelArguments()) {
      long parameters = arguments.set(flag.address(), 0, 0, 0);
      device.bind();
      try {
        module = device.driver().loadModule(ptx);
        long kernel = device.driver().function(module, "gatun_hold");
        device.driver().launch(kernel, 1, 1, stream.handle(), parameters);
      } finally {
        device.unbind();
      }
    }
  }

  static void define(HostCudaDriver host) {
    host.kernels().define("gatun_hold", parameters -> hold(parameters.applyAsLong(0)));
  }

  private static Runnable hold(long address) {
    MemorySegment word = MemorySegment.ofAddress(address).reinterpret(Integer.BYTES);
    return () -> {
      while ((int) FLAG.getVolatile(word, 0L) == 0)
        LockSupport.parkNanos(10_000);
    };
  }

  public void release() {
    FLAG.setVolatile(slab.segment(), 0L, 1);
  }

  @Override
  public void close() {
    release();
    stream.await(Deadline.after(Duration.ofSeconds(30)));
    device.bind();
    try {
      device.driver().unloadModule(module);
    } finally {
      device.unbind();
    }
    flag.close();
    slab.close();
  }
}
