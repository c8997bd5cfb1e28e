package dev.gatun.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class ObserversTest {

  private static final class Recording implements Observer {
    private final List<String> seen = new ArrayList<>();

    @Override
    public void onPut(int stored, int alreadyPresent, int failed, long bytes, long nanos) {
      seen.add("put " + stored + alreadyPresent + failed + ' ' + bytes + ' ' + nanos);
    }

    @Override
    public void onGet(int hits, int misses, int leaseExpired, int rejected, int failed, long bytes, long nanos) {
      seen.add("get " + hits + misses + leaseExpired + rejected + failed + ' ' + bytes + ' ' + nanos);
    }

    @Override
    public void onExists(int present, int absent, int failed, long nanos) {
      seen.add("exists " + present + absent + failed + ' ' + nanos);
    }

    @Override
    public void onRemove(long removed, boolean failed, long nanos) {
      seen.add("remove " + removed + failed + ' ' + nanos);
    }

    @Override
    public void onSkip(String reason, int keys) {
      seen.add("skip " + reason + ' ' + keys);
    }

    @Override
    public void onReset(WeightEpoch epoch, String outcome, long removed, long nanos) {
      seen.add("reset " + epoch + ' ' + outcome + ' ' + removed + ' ' + nanos);
    }
  }

  private static final class Throwing implements Observer {
    @Override
    public void onPut(int stored, int alreadyPresent, int failed, long bytes, long nanos) {
      throw new IllegalStateException("full");
    }

    @Override
    public void onGet(int hits, int misses, int leaseExpired, int rejected, int failed, long bytes, long nanos) {
      throw new NoClassDefFoundError("io/micrometer/core/instrument/Counter");
    }

    @Override
    public void onExists(int present, int absent, int failed, long nanos) {
      throw new IllegalStateException("full");
    }

    @Override
    public void onRemove(long removed, boolean failed, long nanos) {
      throw new IllegalStateException("full");
    }

    @Override
    public void onSkip(String reason, int keys) {
      throw new IllegalStateException("full");
    }

    @Override
    public void onReset(WeightEpoch epoch, String outcome, long removed, long nanos) {
      throw new IllegalStateException("full");
    }
  }

  @Test
  @DisplayName("S3.7 an observer that throws is contained and counted, and the others see everything")
  void contained() {
    Recording recording = new Recording();
    Observers observers = Observers.of(new Throwing(), recording, new Throwing());

    tellAll(observers);

    assertEquals(List.of("put 123 4 5", "get 12345 6 7", "exists 123 4", "remove 1true 2", "skip gate 1",
        "reset run@1 VERIFIED 2 3"), recording.seen);
    assertEquals(12, observers.failures());
  }

  @Test
  @DisplayName("observers can be nested, and be none")
  void composed() {
    Recording recording = new Recording();
    tellAll(Observers.of(Observers.of(), Observers.of(recording)));

    assertEquals(6, recording.seen.size());
  }

  @Test
  @DisplayName("without Micrometer everything but its own observer works")
  void withoutMicrometer() throws Exception {
    URL[] path = {Observers.class.getProtectionDomain().getCodeSource().getLocation(),
        Logger.class.getProtectionDomain().getCodeSource().getLocation()};
    // no parent: the platform's loader finds every module of the application, Micrometer among them
    try (URLClassLoader bare = new URLClassLoader(path, null)) {
      Class<?> observer = bare.loadClass("dev.gatun.backend.Observer");
      Object recorder = bare.loadClass("dev.gatun.observe.FlightRecorderObserver").getConstructor().newInstance();
      Object array = Array.newInstance(observer, 1);
      Array.set(array, 0, recorder);
      Object observers = bare.loadClass("dev.gatun.observe.Observers").getMethod("of", array.getClass()).invoke(null,
          array);
      observer.getMethod("onSkip", String.class, int.class).invoke(observers, "gate", 1);
      assertEquals(0L, observers.getClass().getMethod("failures").invoke(observers));

      Class<?> meters = bare.loadClass("dev.gatun.observe.MeterObserver");
      Throwable missing = assertThrows(Throwable.class, () -> meters.getConstructors()[0].newInstance(null, null));
      Throwable cause = missing instanceof InvocationTargetException e ? e.getTargetException() : missing;
      assertTrue(cause instanceof NoClassDefFoundError, cause.toString());
    }
  }

  private static void tellAll(Observer observer) {
    observer.onPut(1, 2, 3, 4, 5);
    observer.onGet(1, 2, 3, 4, 5, 6, 7);
    observer.onExists(1, 2, 3, 4);
    observer.onRemove(1, true, 2);
    observer.onSkip("gate", 1);
    observer.onReset(new WeightEpoch("run", 1), "VERIFIED", 2, 3);
  }
}
