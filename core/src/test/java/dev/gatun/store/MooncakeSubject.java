package dev.gatun.store;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;
import dev.gatun.internal.backend.MooncakeBackendProvider;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A real Mooncake: one master, one storage process, clients that stay, since each takes a second or two to destroy. */
final class MooncakeSubject implements StoreContractSubject {
  private static final Map<Integer, StoreBackend> CLIENTS = new ConcurrentHashMap<>();

  @Override
  public StoreOptions options() {
    return MooncakeTestRuntime.shared().pureClient().build();
  }

  @Override
  public StoreBackend client(int client) {
    return new SharedClient(CLIENTS.computeIfAbsent(client, number -> ownClient()));
  }

  @Override
  public StoreBackend ownClient() {
    return new MooncakeBackendProvider().open(options());
  }

  @Override
  public boolean controlled() {
    return false;
  }

  @Override
  public void prepare() {}

  /** The master's leases last a second; whoever waits for that polls. */
  @Override
  public void hastenLeases() {}
}
