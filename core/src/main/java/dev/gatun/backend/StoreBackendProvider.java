package dev.gatun.backend;

/** Opens stores of one library; found through {@link java.util.ServiceLoader}. */
public interface StoreBackendProvider {

  /** {@return the name that {@link StoreOptions#library()} selects: {@code loopback} or {@code mooncake}} */
  String library();

  /**
   * Loads and vets the library if need be and opens a store. Blocks while the store connects.
   *
   * @param options validated options
   * @return the open store, owned by the caller
   * @throws GatunException if the library cannot be loaded (naming each place tried and what to do) or the store cannot
   *     be opened (naming the master and the code)
   */
  StoreBackend open(StoreOptions options);
}
