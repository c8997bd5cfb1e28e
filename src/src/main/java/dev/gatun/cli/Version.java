package dev.gatun.cli;

import dev.gatun.cli.console.Json;
import dev.gatun.nativelib.LibraryLocation;
import dev.gatun.nativelib.LibraryUnavailableException;
import dev.gatun.nativelib.MooncakeInstaller;
import dev.gatun.nativelib.MooncakeRuntime;
import dev.gatun.nativelib.NativeLibraries;
import dev.gatun.nativelib.NixlRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;

/** What {@code gatun --version} says. */
final class Version {
  private Version() {}

  /** Prints versions: of Gatun, its native library, the ABI, the runtimes. */
  static void print(boolean json) {
    Map<String, Object> map = map();
    if (json) System.out.println(Json.pretty(map));
    else
      map.forEach((name, value) -> System.out.println(String.format(Locale.ROOT, "%-16s %s", name, value)));
  }

  /** {@return what is known of the build and of the libraries} */
  static Map<String, Object> map() {
    Properties build = build();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("gatun", build.getProperty("version", "unknown"));
    map.put("commit", build.getProperty("commit", "unknown"));
    map.put("nativeLibrary", loopback());
    map.put("abi", "Mooncake store (19 functions) and engine (27), as of " + MooncakeInstaller.VERSION);
    map.put("mooncake", found(Version::mooncake));
    map.put("nixl", found(Version::nixl));
    map.put("java", System.getProperty("java.vm.name") + ' ' + Runtime.version());
    return map;
  }

  private static String loopback() {
    return found(() -> NativeLibraries.locateLoopback().loadOrder().getFirst().toString());
  }

  private static String mooncake() {
    LibraryLocation used = NativeLibraries.locateMooncake();
    return MooncakeRuntime.installed().filter(runtime -> runtime.libraries().equals(used.loadOrder()))
        .map(runtime -> runtime.version() + " in " + runtime.root()).orElseGet(() -> named(used));
  }

  private static String nixl() {
    LibraryLocation used = NativeLibraries.locateNixl();
    return NixlRuntime.installed().filter(runtime -> used.loadOrder().equals(List.of(runtime.library())))
        .map(runtime -> runtime.version() + " in " + runtime.root()).orElseGet(() -> named(used));
  }

  /** A library that a setting names is used in place of a runtime that is installed. */
  private static String named(LibraryLocation used) {
    return used.loadOrder().getLast() + " (from " + used.chosenFrom() + ')';
  }

  /** What cannot be looked for, such as in a cache directory that cannot be used, is said in its place. */
  private static String found(Supplier<String> look) {
    try {
      return look.get();
    } catch (LibraryUnavailableException missing) {
      return "missing: " + String.valueOf(missing.getMessage()).lines().findFirst().orElse("") + "; " + missing.fix();
    }
  }

  private static Properties build() {
    Properties build = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("build.properties")) {
      if (in != null) build.load(in);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
    return build;
  }
}
