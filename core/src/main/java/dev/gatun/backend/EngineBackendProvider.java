package dev.gatun.backend;

/** Opens engines of one library; found through {@link java.util.ServiceLoader}. */
public interface EngineBackendProvider {

  /** {@return the kind of engine that {@link EngineOptions#engine()} selects, such as {@code loopback}} */
  String engine();

  /**
   * Loads and vets the library if need be and opens an engine. Blocks while it starts.
   *
   * @param options validated options
   * @return the open engine, owned by the caller
   * @throws GatunException if the library cannot be loaded (naming each place tried and what to do) or the engine cannot
   *     be opened
   * @throws IllegalArgumentException if an option does not fit this kind of engine
   */
  EngineBackend open(EngineOptions options);
}
