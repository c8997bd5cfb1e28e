package dev.gatun.nativelib;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * An installed Mooncake: complete, and unchanged since {@link MooncakeInstaller} put it there. It works over TCP only;
 * set {@code MC_FORCE_TCP=1} with {@link NativeEnvironment} before the first store or engine is created, else set-up
 * answers -600. Its etcd client is a stand-in that refuses.
 */
public final class MooncakeRuntime {
  static final List<String> STAND_INS = List.of("libascendcl.so", "libllm_datadist.so", "libmetadef.so");
  static final String ENGINE = "libtransfer_engine.so";
  static final String STORE = "libmooncake_store.so";
  static final String MASTER = "mooncake_master";

  private final Path root;
  private final String version;

  MooncakeRuntime(Path root, String version) {
    this.root = root;
    this.version = version;
  }

  /**
   * Looks for the runtime in the per-user cache directory and verifies every file of it. Blocks on file I/O, about
   * 30 MB.
   *
   * @return the runtime, empty when it is not installed or damaged; {@link MooncakeInstaller#install()} then mends it
   * @throws LibraryUnavailableException if the cache directory cannot be trusted
   */
  public static Optional<MooncakeRuntime> installed() {
    return in(MooncakeInstaller.directory(CacheDirectory.root()), MooncakeInstaller.VERSION);
  }

  static Optional<MooncakeRuntime> in(Path root, String version) {
    return SealedDirectory.isIntact(root) ? Optional.of(new MooncakeRuntime(root, version)) : Optional.empty();
  }

  /** {@return the directory that holds all files} */
  public Path root() {
    return root;
  }

  /** {@return version of the Mooncake package, for example 0.3.13.post1} */
  public String version() {
    return version;
  }

  /** {@return the libraries to load, in load order: stand-ins, engine, store; the others follow by themselves} */
  public List<Path> libraries() {
    return Stream.concat(STAND_INS.stream(), Stream.of(ENGINE, STORE)).map(root::resolve).toList();
  }

  /** {@return the store library} */
  public Path storeLibrary() {
    return root.resolve(STORE);
  }

  /** {@return the transfer engine library} */
  public Path engineLibrary() {
    return root.resolve(ENGINE);
  }

  /** {@return the master program} */
  public Path masterProgram() {
    return root.resolve(MASTER);
  }
}
