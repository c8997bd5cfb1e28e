package dev.gatun.cli.replay;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How to start this program again in another process: the same Java, modules and Gatun properties. */
public final class JavaCommand {
  private static final String MAIN = "dev.gatun.cli.Gatun";
  // a child holds a trace or page handles; its pages are off the heap
  private static final String HEAP = "-Xmx1g";

  private JavaCommand() {}

  /**
   * {@return the command line of a process that runs a subcommand}
   *
   * @param subcommand such as {@code replica}
   */
  public static List<String> of(String subcommand) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(HEAP);
    command.add("-XX:+UseSerialGC");
    System.getProperties().forEach((name, value) -> {
      if (name.toString().startsWith("gatun.")) command.add("-D" + name + '=' + value);
    });
    @Nullable
    String modules = System.getProperty("jdk.module.path");
    if (JavaCommand.class.getModule().isNamed() && modules != null) {
      command.add("--enable-native-access=dev.gatun.nativelib,dev.gatun.bindings,dev.gatun.core");
      command.addAll(List.of("-p", modules, "-m", "dev.gatun.cli/" + MAIN));
    } else {
      command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), MAIN));
    }
    command.add(subcommand);
    return command;
  }
}
