package dev.gatun.internal.ffm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.testing.Thrown;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class NativeHandleTest {
  private enum Call {
    READ, WRITE
  }

  private static final MemorySegment POINTER = MemorySegment.ofAddress(0x1000);
  private static final Deadline NOW = new Deadline(System.nanoTime());

  private final AtomicInteger destroyed = new AtomicInteger();

  private NativeHandle<Call> handle() {
    return new NativeHandle<>("store", POINTER, pointer -> destroyed.incrementAndGet(), Call.class);
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }

  @Test
  @DisplayName("a call gets the pointer while the handle is open, and is refused afterwards")
  void enterAndClose() {
    NativeHandle<Call> handle = handle();
    assertEquals(POINTER, handle.enter(Call.READ));
    handle.exit(Call.READ);
    assertTrue(handle.isOpen());
    assertEquals(List.of(), handle.close(soon()));
    assertFalse(handle.isOpen());
    assertEquals("READ refused: store is closed",
        Thrown.message(ClosedException.class, () -> handle.enter(Call.READ)));
  }

  @Test
  @DisplayName("K6.12 K13.10 the native object is destroyed once, however often it is closed")
  void destroyedOnce() {
    NativeHandle<Call> handle = handle();
    for (int i = 0; i < 3; i++)
      assertEquals(List.of(), handle.close(soon()));
    assertEquals(1, destroyed.get());
  }

  @Test
  @DisplayName("a NULL pointer has no owner")
  void nullPointer() {
    assertThrows(IllegalArgumentException.class,
        () -> new NativeHandle<>("store", MemorySegment.NULL, pointer -> {}, Call.class));
  }

  @Test
  @DisplayName("K6.10 a close that runs out of time lists what runs, refuses new calls and destroys nothing; then it goes on")
  void pendingCalls() {
    NativeHandle<Call> handle = handle();
    handle.enter(Call.READ);
    handle.enter(Call.READ);
    handle.enter(Call.WRITE);
    assertEquals(List.of("2 READ", "1 WRITE"), handle.close(NOW));
    assertThrows(ClosedException.class, () -> handle.enter(Call.WRITE));
    assertEquals(0, destroyed.get());
    handle.exit(Call.READ);
    handle.exit(Call.READ);
    assertEquals(List.of("1 WRITE"), handle.close(NOW));
    handle.exit(Call.WRITE);
    assertEquals(List.of(), handle.close(soon()));
    assertEquals(1, destroyed.get());
  }

  @Test
  @DisplayName("K6.10 a native destroy that never returns does not keep the closer, and is not called twice")
  void destroyHangs() throws InterruptedException {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch entered = new CountDownLatch(1);
    NativeHandle<Call> handle = new NativeHandle<>("store", POINTER, pointer -> {
      destroyed.incrementAndGet();
      entered.countDown();
      awaitUninterruptibly(release);
    }, Call.class);
    assertEquals(List.of("destroying store has not returned"), handle.close(Deadline.after(Duration.ofMillis(20))));
    entered.await();
    assertEquals(List.of("destroying store has not returned"), handle.close(NOW));
    release.countDown();
    assertEquals(List.of(), handle.close(soon()));
    assertEquals(1, destroyed.get());
  }

  @Test
  @DisplayName("closing waits for the last call and destroys right after it")
  void closingWaits() throws InterruptedException {
    NativeHandle<Call> handle = handle();
    handle.enter(Call.READ);
    Thread closer = Thread.ofPlatform().start(() -> handle.close(soon()));
    while (handle.isOpen())
      Thread.onSpinWait();
    assertEquals(0, destroyed.get());
    handle.exit(Call.READ);
    closer.join();
    assertEquals(1, destroyed.get());
  }

  @Test
  @DisplayName("an interrupt neither shortens closing nor gets lost")
  void interrupted() {
    NativeHandle<Call> handle = handle();
    Thread.currentThread().interrupt();
    assertEquals(List.of(), handle.close(soon()));
    assertTrue(Thread.interrupted());
    assertEquals(1, destroyed.get());
  }

  @Test
  @DisplayName("two closers at once: both return closed, the object is destroyed once")
  void twoClosers() throws InterruptedException {
    NativeHandle<Call> handle = handle();
    handle.enter(Call.READ);
    List<List<String>> answers = new ArrayList<>();
    List<Thread> closers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      closers.add(Thread.ofPlatform().start(() -> {
        List<String> pending = handle.close(soon());
        synchronized (answers) {
          answers.add(pending);
        }
      }));
    }
    while (handle.isOpen())
      Thread.onSpinWait();
    handle.exit(Call.READ);
    for (Thread closer : closers)
      closer.join();
    assertEquals(List.of(List.of(), List.of()), answers);
    assertEquals(1, destroyed.get());
  }

  @RepeatedTest(100)
  @DisplayName("P8 no call is ever inside while the object is destroyed or after")
  void noCallDuringDestroy() throws InterruptedException {
    AtomicBoolean alive = new AtomicBoolean(true);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger violations = new AtomicInteger();
    NativeHandle<Call> handle = new NativeHandle<>("store", POINTER, pointer -> {
      alive.set(false);
      if (inside.get() != 0) violations.incrementAndGet();
    }, Call.class);
    int threads = 4;
    CountDownLatch started = new CountDownLatch(threads);
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      callers.add(Thread.ofPlatform().start(() -> {
        started.countDown();
        try {
          while (true) {
            handle.enter(Call.WRITE);
            inside.incrementAndGet();
            if (!alive.get()) violations.incrementAndGet();
            inside.decrementAndGet();
            handle.exit(Call.WRITE);
          }
        } catch (ClosedException expected) {
          // the end of each caller
        }
      }));
    }
    started.await();
    assertEquals(List.of(), handle.close(soon()));
    for (Thread caller : callers)
      caller.join();
    assertEquals(0, violations.get());
    assertFalse(alive.get());
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }
}
