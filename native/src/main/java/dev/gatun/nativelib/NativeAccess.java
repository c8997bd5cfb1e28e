package dev.gatun.nativelib;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Turns the JVM's refusal of native access into the launcher flag that grants it. */
public final class NativeAccess {
  private NativeAccess() {}

  /**
   * Names the flag that is missing: every Gatun module that has no native access yet, or {@code ALL-UNNAMED} when Gatun
   * lies on the class path.
   *
   * @param caller a class of the module that was refused
   * @param cause what the JVM threw
   * @return the exception to throw
   */
  public static LibraryUnavailableException denied(Class<?> caller, IllegalCallerException cause) {
    return new LibraryUnavailableException("the JVM denies native access: " + cause.getMessage(), List.of(),
        flag(caller.getModule()) + " (for an executable jar: Enable-Native-Access in its manifest)", cause);
  }

  private static String flag(Module refused) {
    if (!refused.isNamed()) return "java --enable-native-access=ALL-UNNAMED";
    Stream<Module> ours = refused.getLayer().modules().stream()
        .filter(module -> module.getName().startsWith("dev.gatun."));
    return "java --enable-native-access=" + Stream.concat(Stream.of(refused), ours)
        .filter(module -> module == refused || needsAccess(module)).map(Module::getName).distinct().sorted()
        .collect(Collectors.joining(","));
  }

  private static boolean needsAccess(Module module) {
    return GATUN_NATIVE_MODULES.contains(module.getName());
  }

  // the modules that call restricted methods; the flag lists them together so that nobody meets the refusal three times
  private static final List<String> GATUN_NATIVE_MODULES = List.of("dev.gatun.bindings", "dev.gatun.core",
      "dev.gatun.nativelib");
}
