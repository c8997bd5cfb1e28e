package dev.gatun.internal.backend;

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

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(OpenStores::closeAll, "gatun-shutdown"));
  }

  private OpenStores() {}

  static void add(StoreBackend store) {
    OPEN.add(store);
  }

  static void remove(StoreBackend store) {
    OPEN.remove(store);
  }

  private static void closeAll() {
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
