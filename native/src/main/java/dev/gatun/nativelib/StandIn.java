package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * A library made on the spot in place of one that this machine lacks: it has a function for each symbol that others
 * want from it, and each answers "not available". Names alone would not do: the process would die at the first call.
 */
final class StandIn {
  private static final List<String> COMPILERS = List.of("cc", "gcc", "clang");

  // These answer a text. All others answer a code, and any code but 0 is an error to every caller.
  private static final Set<String> ANSWER_TEXT = Set.of("aclGetRecentErrMsg", "aclrtGetSocName");
  // Its caller prints and frees the text behind the second argument, and leaves it unset before the call.
  private static final String ANSWERS_BY_ARGUMENT = "NewEtcdClient";

  private StandIn() {}

  static String source(Collection<String> symbols) {
    StringBuilder code = new StringBuilder("char *strdup(const char *);\n");
    int number = 0;
    for (String symbol : symbols) {
      // the C++ symbols are no C names, hence the assembler label
      String name = "f" + number++;
      if (ANSWER_TEXT.contains(symbol)) {
        define(code, "const char *", name, "void", symbol, "return \"stand-in: no device\";");
      } else if (symbol.equals(ANSWERS_BY_ARGUMENT)) {
        define(code, "long ", name, "const char *a, char **text", symbol,
            "(void)a; if (text) *text = strdup(\"stand-in: no etcd client\"); return -1;");
      } else {
        define(code, "long ", name, "void", symbol, "return -1;");
      }
    }
    return code.toString();
  }

  private static void define(StringBuilder code, String result, String name, String arguments, String symbol,
      String body) {
    if (!symbol.matches("[A-Za-z_][A-Za-z0-9_]*")) throw new IllegalArgumentException("not a symbol: " + symbol);
    String head = result + name + "(" + arguments + ")";
    code.append(head).append(" __asm__(\"").append(symbol).append("\");\n");
    code.append(head).append(" { ").append(body).append(" }\n");
  }

  /** Compiles {@code soname} with a function for each symbol into {@code directory}. */
  static void compile(Path directory, String soname, Collection<String> symbols, List<String> compilers)
      throws IOException {
    Path source = directory.resolve(soname + ".c");
    Files.writeString(source, source(symbols));
    String compiler = compiler(compilers);
    List<String> program = List.of(compiler, "-shared", "-fPIC", "-O1", "-nostdlib", "-Wl,-soname," + soname, "-o",
        directory.resolve(soname).toString(), source.toString());
    Command done = Command.run(program, Duration.ofSeconds(60));
    if (done.code() == 0) return;
    throw new LibraryUnavailableException("cannot compile the stand-in " + soname + ": " + String.join(" ", program)
        + " answered " + done.code() + "\n" + Command.tail(done.output(), 10), List.of(),
        "apt-get install gcc binutils");
  }

  static void compile(Path directory, String soname, Collection<String> symbols) throws IOException {
    compile(directory, soname, symbols, COMPILERS);
  }

  private static String compiler(List<String> candidates) {
    for (String candidate : candidates) {
      if (answers(candidate)) return candidate;
    }
    throw new LibraryUnavailableException("no C compiler found",
        candidates.stream().map(name -> name + " on PATH: not there").toList(), "apt-get install gcc binutils");
  }

  private static boolean answers(String compiler) {
    try {
      return Command.run(List.of(compiler, "--version"), Duration.ofSeconds(20)).code() == 0;
    } catch (IOException e) {
      return false; // not installed
    }
  }
}
