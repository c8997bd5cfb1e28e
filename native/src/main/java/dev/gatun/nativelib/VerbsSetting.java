package dev.gatun.nativelib;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Which libibverbs is meant. */
final class VerbsSetting {
  /** The name under which the dynamic linker and the libraries that are linked to it know it. */
  static final String SONAME = "libibverbs.so.1";

  private VerbsSetting() {}

  static String of(Function<String, @Nullable String> property, Function<String, @Nullable String> environment) {
    String named = named(property, "gatun.verbs.library", "system property ");
    if (named == null) named = named(environment, "VERBS_LIBRARY", "environment variable ");
    return named == null ? SONAME : named;
  }

  private static @Nullable String named(Function<String, @Nullable String> settings, String name, String kind) {
    String value = settings.apply(name);
    return value == null || value.isBlank() ? null : NativeLibraries.existing(value, kind + name).toString();
  }
}
