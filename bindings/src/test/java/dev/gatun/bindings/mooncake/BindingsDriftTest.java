package dev.gatun.bindings.mooncake;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BindingsDriftTest {
  private static final Path GENERATED = Repository.ROOT.resolve("bindings/src/generated/java");
  private static final String FIX = "; run: mvn -Pjextract generate-sources -pl bindings -Djextract.home=<jextract image>";

  @Test
  @DisplayName("every generated file is what jextract made of today's header and allow-list")
  void filesMatchTheirStamps() throws IOException {
    Map<Path, String> files = read(GENERATED);
    assertTrue(files.size() >= 2, "no generated files in " + GENERATED + FIX);
    assertAll(files.entrySet().stream().map(file -> () -> {
      Stamp stamp = Stamp.of(file.getKey(), file.getValue());
      assertEquals(stamp.bodyHash(), Stamp.hash(stamp.body()), file.getKey() + " was edited by hand" + FIX);
      assertEquals(stamp.headerHash(), hash(stamp.header()),
          file.getKey() + " was made from another " + stamp.header() + FIX);
      assertEquals(stamp.allowListHash(), hash(stamp.allowList()),
          file.getKey() + " was made from another " + stamp.allowList() + FIX);
    }));
  }

  @Test
  @DisplayName("every allow-list is sorted and has generated files")
  void allowListsAreGenerated() throws IOException {
    TreeSet<String> generated = new TreeSet<>();
    read(GENERATED).forEach((path, text) -> generated.add(Stamp.of(path, text).allowList()));
    TreeSet<String> lists = new TreeSet<>();
    for (Path list : list(Repository.ROOT.resolve("native/includes"), ".includes")) {
      lists.add("native/includes/" + list.getFileName());
      List<String> lines = Files.readAllLines(list);
      assertEquals(List.copyOf(new TreeSet<>(lines)), lines, list + " must be sorted, without repeats");
    }
    assertEquals(lists, generated, "allow-lists, and those that generated files name" + FIX);
  }

  @Test
  @DisplayName("the configured jextract makes the same files again")
  void regenerates(@TempDir Path folder) throws Exception {
    String home = System.getProperty("jextract.home", System.getenv().getOrDefault("JEXTRACT_HOME", ""));
    assumeFalse(home.isEmpty(), "jextract.home is not set: hashes, layouts and signatures are compared instead");
    Repository.run(List.of(Repository.ROOT.resolve("bindings/regenerate.sh").toString(), home, folder.toString()));
    assertEquals(bodies(GENERATED), bodies(folder), "committed files, and what " + home + " makes" + FIX);
  }

  private static Map<Path, String> bodies(Path folder) throws IOException {
    Map<Path, String> bodies = read(folder);
    bodies.replaceAll((path, text) -> Stamp.of(path, text).body());
    return bodies;
  }

  private static Map<Path, String> read(Path folder) throws IOException {
    Map<Path, String> texts = new TreeMap<>();
    for (Path file : list(folder, "")) {
      texts.put(folder.relativize(file), Files.readString(file));
    }
    return texts;
  }

  private static List<Path> list(Path folder, String suffix) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> Files.isRegularFile(file) && file.toString().endsWith(suffix)).toList();
    }
  }

  private static String hash(String file) throws IOException {
    return Stamp.hash(Files.readString(Repository.ROOT.resolve(file)));
  }
}
