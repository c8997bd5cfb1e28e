package dev.gatun.bindings.mooncake;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** One allow-list of the repository and what it names. */
record AllowList(Path file, List<String> lines) {

  static final String STORE = "mooncake_store";
  static final String ENGINE = "mooncake_transfer_engine";

  static AllowList of(String header) {
    Path file = Repository.ROOT.resolve("native/includes/" + header + ".includes");
    try {
      return new AllowList(file, Files.readAllLines(file));
    } catch (IOException e) {
      throw new AssertionError("no allow-list " + file, e);
    }
  }

  static Stream<AllowList> each() {
    return Stream.of(of(STORE), of(ENGINE));
  }

  List<String> functions() {
    return names("function");
  }

  List<String> structs() {
    return names("struct");
  }

  List<String> constants() {
    return names("constant");
  }

  private List<String> names(String kind) {
    String option = "--include-" + kind + " ";
    return lines.stream().filter(line -> line.startsWith(option)).map(line -> line.substring(option.length()).strip())
        .toList();
  }
}
