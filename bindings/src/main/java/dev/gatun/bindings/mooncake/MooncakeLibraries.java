package dev.gatun.bindings.mooncake;

import dev.gatun.bindings.linking.AllowedFunctions;
import dev.gatun.bindings.linking.LibraryVetting;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The one set of native libraries behind the generated classes of this package.
 * <p>
 * Those classes find a symbol among the libraries that this module has loaded, and keep it for good; hence one set a
 * process, loaded before their first call.
 */
public final class MooncakeLibraries {
  private static @Nullable List<Path> loaded;

  private MooncakeLibraries() {}

  /**
   * Loads the libraries for the life of the process. Loading the same files again does nothing.
   * <p>
   * May be called from any thread. Blocks while the dynamic linker maps the files and runs their initialisers.
   *
   * @param libraries
   *            library files, each after those that it needs: the loopback library alone, or Mooncake's engine and
   *            then its store. Together they must define every function of the two Mooncake allow-lists.
   * @throws IllegalArgumentException
   *             if the list is empty: name at least one file
   * @throws IllegalStateException
   *             if this process has loaded other libraries: start another process for these
   * @throws UnsatisfiedLinkError
   *             if a file is missing, the dynamic linker refuses it (the message has the linker's reason), or
   *             functions are missing (the message lists all of them): nothing has been bound, and another set may
   *             be tried
   */
  public static void load(List<Path> libraries) {
    load(libraries, functions());
  }

  /**
   * As {@link #load}, for programs that call {@link MooncakeStoreC} alone: functions of the transfer engine may be
   * missing, as they are from a store library that has the engine inside and exports only its own interface.
   *
   * @param libraries
   *            library files, each after those that it needs; together they must define every function of the store's
   *            allow-list
   * @throws IllegalArgumentException
   *             if the list is empty: name at least one file
   * @throws IllegalStateException
   *             if this process has loaded other libraries: start another process for these
   * @throws UnsatisfiedLinkError
   *             as for {@link #load}
   */
  public static void loadStore(List<Path> libraries) {
    load(libraries, AllowedFunctions.of(MooncakeLibraries.class, "mooncake_store.includes"));
  }

  /**
   * As {@link #load}, for programs that call {@link MooncakeEngineC} alone: functions of the store may be missing.
   *
   * @param libraries
   *            library files, each after those that it needs; together they must define every function of the engine's
   *            allow-list
   * @throws IllegalArgumentException
   *             if the list is empty: name at least one file
   * @throws IllegalStateException
   *             if this process has loaded other libraries: start another process for these
   * @throws UnsatisfiedLinkError
   *             as for {@link #load}
   */
  public static void loadEngine(List<Path> libraries) {
    load(libraries, AllowedFunctions.of(MooncakeLibraries.class, "mooncake_transfer_engine.includes"));
  }

  static List<String> functions() {
    return Stream.of("mooncake_store.includes", "mooncake_transfer_engine.includes")
        .flatMap(list -> AllowedFunctions.of(MooncakeLibraries.class, list).stream()).toList();
  }

  private static synchronized void load(List<Path> libraries, List<String> symbols) {
    if (libraries.isEmpty()) {
      throw new IllegalArgumentException("libraries must name at least one file: []");
    }
    List<Path> files = libraries.stream().map(LibraryVetting::identity).toList();
    if (loaded != null && !files.equals(loaded)) {
      throw new IllegalStateException("this process is bound to the Mooncake libraries " + loaded
          + " and cannot be bound to " + files + " as well: use one set of libraries a process");
    }
    List<Path> paths = libraries.stream().map(path -> path.toAbsolutePath().normalize()).toList();
    LibraryVetting.require(paths, symbols,
        "use a build of Mooncake that exports its C interface (store and transfer engine)");
    if (loaded != null) {
      return;
    }
    loaded = files; // before loading: the first one counts as soon as it is mapped
    paths.forEach(path -> System.load(path.toString()));
  }
}
