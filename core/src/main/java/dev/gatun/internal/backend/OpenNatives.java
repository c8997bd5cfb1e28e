package dev.gatun.internal.backend;

import dev.gatun.backend.GatunException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The stores and engines of this process that are not closed. When the JVM shuts down they are drained and destroyed
 * first, side by side: the library's own exit hook would tear them down under calls that still run.
 */
final class OpenNatives {
  private static final Map<AutoCloseable, Entry> OPEN = new ConcurrentHashMap<>();
  private static final Thread HOOK = new Thread(OpenNatives::closeAll, "gatun-shutdown");

  private static boolean hooked; // guarded by the class
  private static volatile boolean shuttingDown;

  private record Entry(String name, Runnable close) {}

  private OpenNatives() {}

  /**
   * Makes sure that whatever is opened next will be closed with the JVM.
   *
   * @throws GatunException if the JVM is shutting down already
   */
  static synchronized void prepare() {
    if (shuttingDown) throw tooLate();
    if (hooked) return;
    try {
      Runtime.getRuntime().addShutdownHook(HOOK);
      hooked = true;
    } catch (IllegalStateException e) {
      throw tooLate();
    }
  }

  /** Adds a store or an engine; {@code close} must end by its own close timeout. */
  static void add(AutoCloseable opened, String name, Runnable close) {
    OPEN.put(opened, new Entry(name, close));
    // set before the entries are counted, read after this one was added: one of the two closes it
    if (!shuttingDown) return;
    close.run();
    throw tooLate();
  }

  static void remove(AutoCloseable closed) {
    OPEN.remove(closed);
  }

  private static GatunException tooLate() {
    return new GatunException("no store or engine can be opened: the JVM is shutting down");
  }

  private static void closeAll() {
    shuttingDown = true;
    List<Thread> closers = new ArrayList<>();
    for (Entry entry : OPEN.values()) {
      closers.add(Thread.ofPlatform().daemon().name("gatun-shutdown " + entry.name).start(entry.close));
    }
    for (Thread closer : closers) {
      try {
        closer.join(); // each ends by its close timeout
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
