package dev.gatun.device;

import static dev.gatun.testing.Thrown.message;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import dev.gatun.backend.InUseException;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a driver must do behind {@link Device}, the same on host memory, on a stand-in and on GPUs. */
@SuppressWarnings("NullAway.Init")
abstract class DeviceContract {
  private static final int BYTES = 100_000;
  private static final Duration SHORT = Duration.ofMillis(20);

  private Device gpu;
  private Slab slab;
  private PinnedSlab host;
  private DeviceSlab memory;
  private DeviceStream stream;

  abstract String driver();

  @BeforeEach
  void open() {
    gpu = Device.open(driver(), 0);
    slab = Slab.allocate(SlabOptions.of("host", BYTES));
    host = gpu.pin(slab);
    memory = gpu.allocate("memory", BYTES);
    stream = gpu.newStream("stream", StreamPriority.LOW);
    // a driver may load its own kernels when they are first used, and wait for the GPU to be idle before
    stream.fill(memory, 0, BYTES, (byte) 0).copy(host, 0, memory, 0, BYTES).await(longEnough());
  }

  @AfterEach
  void closeAll() {
    memory.close();
    stream.close();
    host.close();
    slab.close();
    gpu.close(); // refuses if a test left something open
    assertEquals(0, gpu.driver().currentContext(), "no context stays bound to the thread");
  }

  @Test
  @DisplayName("bytes come back as they went, at odd offsets and lengths, and no other byte changes")
  void copies() {
    Random random = new Random(1);
    for (int round = 0; round < 50; round++) {
      int bytes = 1 + random.nextInt(3_000);
      int offset = random.nextInt(BYTES - bytes);
      int landing = random.nextInt(BYTES / 2 - bytes);
      byte[] pattern = new byte[bytes];
      random.nextBytes(pattern);
      slab.segment().fill((byte) 1);
      slab.segment().asSlice(landing, bytes).copyFrom(MemorySegment.ofArray(pattern));
      stream.fill(memory, 0, BYTES, (byte) 2).copy(memory, offset, host, landing, bytes);
      await();
      slab.segment().fill((byte) 3);
      stream.copy(host, 0, memory, 0, BYTES);
      await();
      byte[] image = slab.segment().asSlice(0, BYTES).toArray(JAVA_BYTE);
      byte[] expected = new byte[BYTES];
      Arrays.fill(expected, (byte) 2);
      System.arraycopy(pattern, 0, expected, offset, bytes);
      assertArrayEquals(expected, image);
    }
  }

  @Test
  @DisplayName("copies within the device, and a copy of nothing")
  void copiesOnDevice() {
    try (DeviceSlab other = gpu.allocate("other", BYTES)) {
      stream.fill(memory, 0, BYTES, (byte) 5).fill(other, 0, BYTES, (byte) 6)
          .copy(other, 10, memory, 99, 1_001).copy(other, 0, memory, BYTES, 0).copy(host, 0, other, 0, BYTES);
      await();
      for (int i : new int[]{0, 9, 10, 500, 1_010, 1_011, BYTES - 1}) {
        assertEquals(i < 10 || i > 1_010 ? 6 : 5, slab.segment().get(JAVA_BYTE, i), "byte " + i);
      }
    }
  }

  @Test
  @DisplayName("K5.05 K11.05 the context is bound in a call only; the thread's own is current again after it, also on failure")
  void contextIsRestored() {
    CudaDriver driver = gpu.driver();
    assertEquals(0, driver.currentContext());
    stream.fill(memory, 0, 10, (byte) 0);
    assertEquals(0, driver.currentContext());
    assertThrows(DeviceException.class, () -> gpu.allocate("too much", gpu.info().totalBytes() * 4));
    assertEquals(0, driver.currentContext());
    long own = driver.retainContext(0);
    driver.pushContext(own);
    try {
      stream.fill(memory, 0, 10, (byte) 0);
      await();
      gpu.newEvent("event").close();
      assertEquals(own, driver.currentContext());
    } finally {
      driver.popContext();
      driver.releaseContext(0);
    }
  }

  @Test
  @DisplayName("K11.05 memory of one thread is used by others, and by virtual threads that change carriers")
  void anyThread() throws Exception {
    List<Future<?>> runs = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 100; i++) {
        int index = i;
        runs.add(threads.submit(() -> {
          for (int round = 0; round < 20; round++) {
            stream.fill(memory, index * 1_000L, 1_000, (byte) index);
            LockSupport.parkNanos(1); // goes on where a carrier is free
            stream.copy(host, index * 1_000L, memory, index * 1_000L, 1_000).await(longEnough());
            assertEquals(index, slab.segment().get(JAVA_BYTE, index * 1_000L + round));
            assertEquals(0, gpu.driver().currentContext());
          }
        }));
      }
      for (Future<?> run : runs)
        run.get();
    }
  }

  @Test
  @DisplayName("K11.05 a virtual thread whose first call has to wait for another thread leaves no context bound to its carrier")
  void firstCallWaits() throws Exception {
    Class<?> monitor = Class.forName("jdk.internal.ref.Cleaner"); // of every direct buffer that is made
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CountDownLatch warm = new CountDownLatch(100);
      CountDownLatch begun = new CountDownLatch(1);
      List<Future<Long>> contexts = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        contexts.add(threads.submit(() -> {
          gpu.driver().currentContext(); // makes what a thread makes once
          warm.countDown();
          begun.await();
          return gpu.driver().currentContext();
        }));
      }
      warm.await();
      Thread first;
      synchronized (monitor) {
        first = Thread.ofVirtual().start(() -> gpu.freeBytes());
        Await.until("it waits, or is done", () -> first.getState() == Thread.State.BLOCKED || !first.isAlive());
        begun.countDown();
        for (Future<Long> context : contexts)
          assertEquals(0, context.get());
      }
      first.join();
    }
  }

  @Test
  @DisplayName("ranges, sides and sizes that cannot be are refused with field and value before anything is queued")
  void refusesBadArguments() {
    assertTrue(message(IllegalArgumentException.class, () -> stream.copy(memory, -1, host, 0, 1))
        .startsWith("targetOffset must lie within 0 to " + BYTES));
    assertTrue(message(IllegalArgumentException.class, () -> stream.copy(memory, 0, host, host.byteSize() - 1, 2))
        .startsWith("sourceOffset must lie within"));
    assertTrue(message(IllegalArgumentException.class, () -> stream.copy(memory, 0, host, 0, -5))
        .contains("-5 bytes"));
    assertTrue(message(IllegalArgumentException.class, () -> stream.copy(memory, Long.MAX_VALUE, host, 0, 2))
        .contains("" + Long.MAX_VALUE));
    assertTrue(message(IllegalArgumentException.class, () -> stream.copy(host, 0, host, 10, 2))
        .contains("one side of a copy must be device memory"));
    assertThrows(IllegalArgumentException.class, () -> stream.fill(memory, BYTES, 1, (byte) 0));
    assertThrows(IllegalArgumentException.class, () -> gpu.allocate("nothing", 0));
    assertTrue(message(IllegalArgumentException.class, () -> Device.open(driver(), 1_000)).contains("1000"));
    assertTrue(message(IllegalArgumentException.class, () -> Device.open(driver(), -1)).contains("-1"));
    assertTrue(message(IllegalArgumentException.class, () -> host.offsetOf(host.address() - 1)).contains("0x"));
    assertEquals(7, host.offsetOf(host.address() + 7));
    await();
  }

  @Test
  @DisplayName("too much memory is a failure that names the call, the driver's error and what to do")
  void outOfMemory() {
    DeviceException failure = assertThrows(DeviceException.class,
        () -> gpu.allocate("too much", gpu.info().totalBytes() * 4));
    assertEquals(2, failure.code());
    assertEquals("CUDA_ERROR_OUT_OF_MEMORY", failure.codeName());
    assertTrue(failure.call().startsWith("cuMemAlloc("), failure.call());
    assertTrue(String.valueOf(failure.getMessage()).contains("ask for less"), failure.getMessage());
    assertFalse(failure.isContextLost());
  }

  @Test
  @DisplayName("closing twice does nothing; use after close is refused; what another is built on closes after it")
  void closeRules() {
    DeviceSlab other = gpu.allocate("other", 64);
    DeviceEvent event = gpu.newEvent("event");
    assertTrue(message(InUseException.class, () -> gpu.close()).contains("other (64 bytes)"));
    other.close();
    other.close();
    event.close();
    assertThrows(ClosedException.class, () -> stream.copy(host, 0, other, 0, 1));
    assertThrows(ClosedException.class, () -> stream.fill(other, 0, 1, (byte) 0));
    assertThrows(ClosedException.class, () -> stream.record(event));
    assertThrows(ClosedException.class, event::isDone);
    assertTrue(message(InUseException.class, slab::close).contains("registered with GPU 0"));
    assertTrue(message(InUseException.class, () -> slab.registrations().getFirst().close()).contains("PinnedSlab"));
    assertThrows(IllegalStateException.class, () -> gpu.pin(slab));
    Device second = Device.open(driver(), 0);
    second.close();
    second.close();
    assertThrows(ClosedException.class, () -> second.allocate("late", 1));
    assertThrows(ClosedException.class, () -> second.pin(slab));
    assertThrows(ClosedException.class, () -> PageCopy.load(second));
    assertThrows(ClosedException.class, () -> DmaCopy.open(second, true));
    assertThrows(ClosedException.class, second::freeBytes);
    assertTrue(memory.isOpen() && !other.isOpen() && gpu.isOpen() && !second.isOpen());
  }

  @Test
  @DisplayName("a slab pinned by somebody else is refused with the driver's reason, and can be closed")
  void pinnedElsewhere() {
    try (Device second = Device.open(driver(), 0)) {
      DeviceException failure = assertThrows(DeviceException.class, () -> second.pin(slab));
      assertEquals(712, failure.code());
    }
  }

  @Test
  @DisplayName("nothing is freed while the GPU works: each close names what it waits for, and works once that is done")
  void closeWhileWorking() throws Exception {
    try (Hold hold = new Hold(stream)) {
      stream.copy(host, 0, memory, 0, BYTES);
      assertTrue(message(InUseException.class, () -> memory.close(soon())).contains("the GPU is still working"));
      assertThrows(InUseException.class, () -> host.close(soon()));
      assertThrows(InUseException.class, () -> stream.close(soon()));
      assertThrows(InUseException.class, () -> gpu.drain(soon()));
      assertTrue(memory.isOpen() && host.isOpen() && stream.isOpen());
      assertThrows(DeadlineException.class, () -> stream.await(soon()));
      assertFalse(stream.isIdle());
      hold.release();
      gpu.drain(longEnough());
      assertTrue(stream.isIdle());
    }
    memory.close();
    assertFalse(memory.isOpen());
  }

  @Test
  @DisplayName("memory and streams closed beside running calls: each call works or is refused, and nothing freed is touched")
  void closeBesideCalls() throws Exception {
    AtomicReference<DeviceSlab> current = new AtomicReference<>(gpu.allocate("first", 1_000));
    AtomicBoolean going = new AtomicBoolean(true);
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      List<Future<Integer>> copiers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        long place = i * 1_000L;
        copiers.add(threads.submit(() -> {
          int copied = 0;
          while (going.get() || copied == 0) {
            try (DeviceStream own = gpu.newStream("own", StreamPriority.LOW)) {
              for (int round = 0; round < 10; round++) {
                own.copy(current.get(), 0, host, place, 1_000).copy(host, place, current.get(), 0, 1_000);
                copied++;
              }
            } catch (ClosedException refused) {
              // somebody closed the slab between the look and the call
            }
          }
          return copied;
        }));
      }
      for (int round = 0; round < 100; round++) {
        current.getAndSet(gpu.allocate("next", 1_000)).close(longEnough());
      }
      going.set(false);
      for (Future<Integer> copier : copiers)
        assertTrue(copier.get() > 0);
    }
    current.get().close();
    await(); // no error is left behind on the GPU
  }

  @Test
  @DisplayName("K11.01 a copy ordered after the producer's event reads what the producer wrote, however late that is")
  void producerOrder() throws Exception {
    try (DeviceStream producer = gpu.newStream("producer", StreamPriority.HIGH);
        DeviceEvent written = gpu.newEvent("written");
        DeviceEvent copied = gpu.newEvent("copied")) {
      assertTrue(written.isDone(), "it recorded nothing yet");
      for (int round = 0; round < 10; round++) {
        byte value = (byte) (round + 1);
        try (Hold hold = new Hold(producer)) {
          producer.fill(memory, 0, BYTES, value).record(written);
          stream.waitFor(written).copy(host, 0, memory, 0, BYTES).record(copied);
          assertFalse(copied.isDone() || written.isDone());
          assertThrows(DeadlineException.class, () -> copied.await(Deadline.after(Duration.ZERO)));
          hold.release();
          copied.await(longEnough());
          assertEquals(value, slab.segment().get(JAVA_BYTE, 0));
          assertEquals(value, slab.segment().get(JAVA_BYTE, BYTES - 1));
        }
      }
    }
  }

  @Test
  @DisplayName("K11.06 of 2,000 copies behind a busy stream some 800 are queued at most: the caller waits in Java, other streams go on")
  void queueIsBounded() throws Exception {
    int pieces = 2_000;
    int bytes = BYTES / pieces;
    byte[] expected = new byte[BYTES];
    new Random(6).nextBytes(expected);
    slab.segment().copyFrom(MemorySegment.ofArray(expected));
    AtomicInteger queued = new AtomicInteger();
    try (DeviceStream other = gpu.newStream("other", StreamPriority.LOW);
        DeviceSlab beside = gpu.allocate("beside", 64)) {
      Thread caller = Thread.ofVirtual().unstarted(() -> {
        for (int i = 0; i < pieces; i++) {
          stream.copy(memory, (long) i * bytes, host, (long) i * bytes, bytes);
          queued.incrementAndGet();
        }
      });
      try (Hold hold = new Hold(stream)) {
        caller.start();
        awaitWaiting(caller);
        int behind = queued.get();
        assertTrue(behind > QueueBound.OPERATIONS_MAX / 2 && behind <= QueueBound.OPERATIONS_MAX, () -> "queued: "
            + behind);
        other.fill(beside, 0, 64, (byte) 2).await(longEnough());
        assertFalse(stream.isIdle());
        hold.release();
        caller.join();
      }
      assertEquals(pieces, queued.get());
    }
    await();
    slab.segment().fill((byte) 0);
    stream.copy(host, 0, memory, 0, BYTES);
    await();
    assertArrayEquals(expected, slab.segment().asSlice(0, BYTES).toArray(JAVA_BYTE));
  }

  /** Until a thread waits, or has ended. */
  static void awaitWaiting(Thread thread) {
    Deadline deadline = longEnough();
    while (thread.getState() != Thread.State.TIMED_WAITING && thread.isAlive()) {
      assertFalse(deadline.reached(), () -> "it neither waits nor ends: " + thread.getState());
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  @DisplayName("timed events give the GPU's time; others, and those not done, refuse")
  void timedEvents() throws Exception {
    try (DeviceEvent first = gpu.newTimedEvent("first");
        DeviceEvent last = gpu.newTimedEvent("last");
        DeviceEvent plain = gpu.newEvent("plain")) {
      stream.record(first);
      try (Hold hold = new Hold(stream)) {
        stream.fill(memory, 0, BYTES, (byte) 1).record(last).record(plain);
        assertThrows(IllegalStateException.class, () -> first.millisUntil(last));
        hold.release();
        last.await(longEnough());
      }
      assertTrue(first.millisUntil(last) >= 0);
      assertThrows(IllegalStateException.class, () -> first.millisUntil(plain));
    }
  }

  @Test
  @DisplayName("K5.16 memory, streams and events of the engine are adopted, used and never freed; host memory is never taken for the GPU's")
  void adopts() {
    try (DeviceStream engine = gpu.newStream("engine", StreamPriority.HIGH);
        DeviceEvent ready = gpu.newEvent("ready")) {
      try (DeviceSlab view = gpu.adopt("view", memory.address() + 1_000, 500);
          DeviceStream adopted = gpu.adoptStream("adopted", engine.handle());
          DeviceEvent foreign = gpu.adoptEvent("foreign", ready.handle())) {
        assertFalse(view.isOwned());
        assertTrue(message(IllegalArgumentException.class, () -> adopted.fill(view, 0, 1, (byte) 0))
            .contains("is the engine's"));
        engine.fill(memory, 0, BYTES, (byte) 8);
        adopted.record(foreign);
        stream.waitFor(foreign).copy(host, 0, view, 0, 500);
        await();
        assertEquals(8, slab.segment().get(JAVA_BYTE, 499));
      }
      engine.fill(memory, 0, BYTES, (byte) 9).record(ready).await(longEnough());
    }
    assertTrue(message(IllegalArgumentException.class, () -> gpu.adopt("host", host.address(), 10))
        .contains("address must be of 10 bytes of memory of GPU 0"));
    try (Arena plain = Arena.ofConfined()) {
      long address = plain.allocate(10).address();
      assertThrows(IllegalArgumentException.class, () -> gpu.adopt("plain", address, 10));
    }
    assertThrows(IllegalArgumentException.class, () -> gpu.adopt("nowhere", 16, 10));
    assertThrows(IllegalArgumentException.class, () -> gpu.adopt("empty", memory.address(), 0));
    assertThrows(IllegalArgumentException.class, () -> gpu.adoptEvent("none", 0));
  }

  @Test
  @DisplayName("many copies by one call land where they should, where the driver has it; else it is refused")
  void copiesBatches() {
    CudaDriver driver = gpu.driver();
    long[] from = {100, 4_000, 99_000};
    long[] to = {5, 50_000, 7_777};
    long[] sizes = {64, 1, 1_000};
    stream.copy(memory, 0, host, 0, BYTES);
    await();
    for (int i = 0; i < BYTES; i++)
      slab.segment().set(JAVA_BYTE, i, (byte) (i % 251));
    try (Arena arena = Arena.ofConfined()) {
      long targets = arena.allocateFrom(JAVA_LONG, memory.address() + to[0], memory.address() + to[1],
          memory.address() + to[2]).address();
      long sources = arena.allocateFrom(JAVA_LONG, host.address() + from[0], host.address() + from[1],
          host.address() + from[2]).address();
      long lengths = arena.allocateFrom(JAVA_LONG, sizes).address();
      gpu.bind();
      try {
        if (!driver.copiesBatches()) {
          assertThrows(UnsupportedOperationException.class,
              () -> driver.copyBatch(targets, sources, lengths, 3, stream.handle()));
          return;
        }
        driver.copyBatch(targets, sources, lengths, 3, stream.handle());
      } finally {
        gpu.unbind();
      }
      await();
    }
    slab.segment().fill((byte) 0);
    stream.copy(host, 0, memory, 0, BYTES);
    await();
    for (int i = 0; i < 3; i++)
      for (long at = 0; at < sizes[i]; at++)
        assertEquals((byte) ((from[i] + at) % 251), slab.segment().get(JAVA_BYTE, to[i] + at));
    assertEquals(0, slab.segment().get(JAVA_BYTE, to[0] + sizes[0]));
  }

  @Test
  @DisplayName("what belongs to one GPU is refused by another")
  void devicesAreNotMixed() {
    if (gpu.driver().deviceCount() < 2) return; // one GPU: there is nothing to mix up
    try (Device second = Device.open(driver(), 1);
        DeviceSlab far = second.allocate("far", 64);
        DeviceEvent event = second.newEvent("event")) {
      assertTrue(message(IllegalArgumentException.class, () -> stream.copy(far, 0, host, 0, 1))
          .contains("is on GPU 1"));
      assertThrows(IllegalArgumentException.class, () -> stream.waitFor(event));
      assertThrows(IllegalArgumentException.class, () -> gpu.adopt("far", far.address(), 1));
    }
  }

  @Test
  @DisplayName("the report of the driver names version and GPUs")
  void probe() {
    DriverReport report = CudaDrivers.probe(driver());
    assertTrue(report.usable() && report.missing().isEmpty() && !report.version().isEmpty(), report.toString());
    assertEquals(gpu.info(), report.devices().getFirst());
    assertTrue(gpu.freeBytes() <= gpu.info().totalBytes() && gpu.freeBytes() > 0);
    assertTrue(CudaDrivers.names().contains(driver()));
    assertDoesNotThrow(() -> Long.parseUnsignedLong(gpu.info().uuid().substring(0, 16), 16));
  }

  private void await() {
    stream.await(longEnough());
  }

  private static Deadline longEnough() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  private static Deadline soon() {
    return Deadline.after(SHORT);
  }
}
