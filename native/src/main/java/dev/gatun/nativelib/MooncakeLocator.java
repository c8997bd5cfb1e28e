package dev.gatun.nativelib;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The search order for a Mooncake. The first place that names a store or an engine wins, and names both: libraries of
 * two builds in one process crash.
 */
final class MooncakeLocator {
  private static final String FIX = "gatun mooncake install (Linux x86-64), or"
      + " MOONCAKE_STORE_LIBRARY=/path/to/libmooncake_store.so";

  private final Function<String, @Nullable String> property;
  private final Function<String, @Nullable String> environment;
  private final Supplier<Optional<MooncakeRuntime>> installed;
  private final List<String> tried = new ArrayList<>();

  MooncakeLocator(Function<String, @Nullable String> property, Function<String, @Nullable String> environment,
      Supplier<Optional<MooncakeRuntime>> installed) {
    this.property = property;
    this.environment = environment;
    this.installed = installed;
  }

  LibraryLocation locate() {
    LibraryLocation found = named("system property ", property, "gatun.store.library", "gatun.engine.library");
    if (found == null) {
      found = named("environment variable ", environment, "MOONCAKE_STORE_LIBRARY", "MOONCAKE_ENGINE_LIBRARY");
    }
    if (found == null) found = installedRuntime();
    if (found == null) found = onLibraryPath();
    if (found != null) return found;
    throw new LibraryUnavailableException("no Mooncake library found", tried, FIX);
  }

  private @Nullable LibraryLocation named(String kind, Function<String, @Nullable String> settings, String storeName,
      String engineName) {
    List<Path> loadOrder = new ArrayList<>();
    List<String> chosen = new ArrayList<>();
    for (String name : List.of(engineName, storeName)) {
      String value = settings.apply(name);
      if (value == null || value.isBlank()) {
        tried.add(kind + name + ": not set");
      } else {
        loadOrder.add(NativeLibraries.existing(value, kind + name));
        chosen.add(name);
      }
    }
    return loadOrder.isEmpty() ? null : new LibraryLocation(loadOrder, kind + String.join(", ", chosen), tried);
  }

  private @Nullable LibraryLocation installedRuntime() {
    Optional<MooncakeRuntime> runtime = installed.get();
    if (runtime.isPresent()) {
      return new LibraryLocation(runtime.get().libraries(), "runtime installed in " + runtime.get().root(), tried);
    }
    tried.add("runtime of gatun mooncake install: not installed, or damaged");
    return null;
  }

  private @Nullable LibraryLocation onLibraryPath() {
    String path = property.apply("java.library.path");
    if (path == null) return null;
    for (String directory : path.split(File.pathSeparator, -1)) {
      if (directory.isBlank()) continue;
      Path store = Path.of(directory, MooncakeRuntime.STORE).toAbsolutePath();
      if (!Files.isRegularFile(store)) {
        tried.add("java.library.path, " + store + ": not there");
        continue;
      }
      Path engine = store.resolveSibling(MooncakeRuntime.ENGINE);
      List<Path> loadOrder = Files.isRegularFile(engine) ? List.of(engine, store) : List.of(store);
      return new LibraryLocation(loadOrder, "java.library.path, " + directory, tried);
    }
    return null;
  }
}
