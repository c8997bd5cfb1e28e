package dev.gatun.internal.backend;

import dev.gatun.backend.StoreBackend;
import dev.gatun.backend.StoreOptions;
import java.io.IOException;

/** Main class of a process that contributes memory to a master until its standard input ends. */
final class StorageProcess {
  private StorageProcess() {}

  public static void main(String[] arguments) throws IOException {
    StoreOptions options = StoreOptions.mooncake(arguments[0]).masterAdmin(arguments[1])
        .segmentBytes(Long.parseLong(arguments[2])).localHostname(arguments[3]).metadataServer(arguments[4])
        .rpcTimeout(MooncakeTestRuntime.RPC_TIMEOUT).build();
    try (StoreBackend store = new MooncakeBackendProvider().open(options)) {
      System.out.println("storage ready " + store.hostname());
      while (System.in.read() >= 0) {
        // waits for the parent, or for its end
      }
    }
  }
}
