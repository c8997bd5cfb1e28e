package dev.gatun.store;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.StoreBackend;
import dev.gatun.testing.ForwardingBackend;
import java.util.List;

/** Passes everything on but the close, so that several stores can follow one another on one client. */
final class SharedClient extends ForwardingBackend {
  SharedClient(StoreBackend client) {
    super(client);
  }

  @Override
  public List<String> close(Deadline deadline) {
    return List.of();
  }

  @Override
  public void close() {}
}
