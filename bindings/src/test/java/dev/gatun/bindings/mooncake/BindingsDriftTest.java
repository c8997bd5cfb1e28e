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
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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
    Map<Path, String> made = read(folder);
    Map<Path, String> committed = read(GENERATED);
    assertEquals(committed.keySet(), made.keySet(), "committed files, and those that " + home + " makes" + FIX);
    assertAll(committed.entrySet().stream().map(file -> () -> {
      List<String> ours = lines(file.getKey(), file.getValue());
      List<String> theirs = lines(file.getKey(), made.get(file.getKey()));
      for (int line = 0; line < Math.max(ours.size(), theirs.size()); line++) {
        int number = line + 1;
        assertEquals(line(ours, line), line(theirs, line),
            () -> file.getKey() + " line " + number + " below the stamp, committed and made" + FIX);
      }
    }));
  }

  private static List<String> lines(Path file, @Nullable String text) {
    return Stamp.of(file, Objects.requireNonNull(text)).body().lines().toList();
  }

  private static String line(List<String> lines, int index) {
    return index < lines.size() ? lines.get(index) : "(end of file)";
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
