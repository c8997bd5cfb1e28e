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

/** The search order for NIXL's C interface. */
final class NixlLocator {
  private static final String NAME = "libnixl_capi.so";

  private final Function<String, @Nullable String> property;
  private final Function<String, @Nullable String> environment;
  private final Supplier<Optional<NixlRuntime>> installed;
  private final List<String> tried = new ArrayList<>();

  NixlLocator(Function<String, @Nullable String> property, Function<String, @Nullable String> environment,
      Supplier<Optional<NixlRuntime>> installed) {
    this.property = property;
    this.environment = environment;
    this.installed = installed;
  }

  LibraryLocation locate() {
    LibraryLocation found = named("system property ", property, "gatun.nixl.library");
    if (found == null) found = named("environment variable ", environment, "NIXL_LIBRARY");
    if (found == null) found = installedRuntime();
    if (found == null) found = onLibraryPath();
    if (found != null) return found;
    throw new LibraryUnavailableException("no NIXL library found", tried,
        "gatun nixl install (Linux x86-64), or NIXL_LIBRARY=/path/to/" + NAME);
  }

  private @Nullable LibraryLocation named(String kind, Function<String, @Nullable String> settings, String name) {
    String value = settings.apply(name);
    if (value != null && !value.isBlank()) {
      return new LibraryLocation(List.of(NativeLibraries.existing(value, kind + name)), kind + name, tried);
    }
    tried.add(kind + name + ": not set");
    return null;
  }

  private @Nullable LibraryLocation installedRuntime() {
    Optional<NixlRuntime> runtime = installed.get();
    if (runtime.isPresent()) {
      return new LibraryLocation(List.of(runtime.get().library()), "runtime installed in " + runtime.get().root(),
          tried);
    }
    tried.add("runtime of gatun nixl install: not installed, or damaged");
    return null;
  }

  private @Nullable LibraryLocation onLibraryPath() {
    String path = property.apply("java.library.path");
    if (path == null) return null;
    for (String directory : path.split(File.pathSeparator, -1)) {
      if (directory.isBlank()) continue;
      Path library = Path.of(directory, NAME).toAbsolutePath();
      if (Files.isRegularFile(library)) {
        return new LibraryLocation(List.of(library), "java.library.path, " + directory, tried);
      }
      tried.add("java.library.path, " + library + ": not there");
    }
    return null;
  }
}
