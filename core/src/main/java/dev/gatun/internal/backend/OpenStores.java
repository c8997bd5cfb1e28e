package dev.gatun.internal.backend;

import dev.gatun.backend.GatunException;
import dev.gatun.backend.StoreBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The stores of this process that are not closed. When the JVM shuts down they are drained and destroyed first, side by
 * side: the library's own exit hook would tear them down under calls that still run.
 */
final class OpenStores {
  private static final Set<StoreBackend> OPEN = ConcurrentHashMap.newKeySet();
  private static final Thread HOOK = new Thread(OpenStores::closeAll, "gatun-shutdown");

  private static boolean hooked; // guarded by the class
  private static volatile boolean shuttingDown;

  private OpenStores() {}

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

  static void add(StoreBackend store) {
    OPEN.add(store);
    // set before the stores are counted, read after this one was added: one of the two closes it
    if (!shuttingDown) return;
    store.close();
    throw tooLate();
  }

  static void remove(StoreBackend store) {
    OPEN.remove(store);
  }

  private static GatunException tooLate() {
    return new GatunException("no store can be opened: the JVM is shutting down");
  }

  private static void closeAll() {
    shuttingDown = true;
    List<Thread> closers = new ArrayList<>();
    for (StoreBackend store : OPEN) {
      closers.add(Thread.ofPlatform().daemon().name("gatun-shutdown " + store.name()).start(store::close));
    }
    for (Thread closer : closers) {
      try {
        closer.join(); // each ends by its store's close timeout
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
