package dev.gatun.bindings.mooncake;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.bindings.cuda.CudaLibrary;
import dev.gatun.bindings.nixl.NixlLibrary;
import dev.gatun.bindings.verbs.VerbsLibrary;
import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("each generated function has the parameters and the result that the C compiler sees in the header")
class SignatureTest {
  private static Map<String, String> compiled = Map.of();

  @BeforeAll
  static void compileAndBind(@TempDir Path folder) throws Exception {
    compiled = Repository.run(List.of(printer(folder).toString())).lines()
        .collect(toMap(line -> line.substring(0, line.indexOf(' ')), line -> line));
    MooncakeLibraries.load(List.of(Repository.built("libgatun_loopback.so"))); // exports every other function
    CudaLibrary.load(SymbolLibrary.compile(folder, "names_of_cuda", AllowList.CUDA.functions()));
    NixlLibrary.load(SymbolLibrary.compile(folder, "names_of_nixl", AllowList.NIXL.functions()));
    VerbsLibrary.load(Repository.built("libgatun_verbs.so"));
  }

  static Stream<Arguments> functions() {
    return Stream.of(AllowList.values())
        .flatMap(list -> list.functions().stream().map(function -> Arguments.of(function, list.bindings)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("functions")
  void sameInJavaAndC(String function, Class<?> bindings) throws ReflectiveOperationException {
    // a variadic function has no descriptor, so this also shows that none is
    FunctionDescriptor java = (FunctionDescriptor) bindings.getMethod(function + "$descriptor").invoke(null);
    assertEquals(compiled.get(function), function + " " + describe(java),
        () -> function + ": C (first) and Java differ");
  }

  private static Path printer(Path folder) throws IOException, InterruptedException {
    String headers = Stream.of(AllowList.values()).map(list -> "#include \"" + list.header + ".h\"\n")
        .collect(joining());
    String main = Stream.of(AllowList.values()).flatMap(list -> list.functions().stream())
        .map(name -> "    Signature<decltype(" + name + ")>::print(\"" + name + "\");\n")
        .collect(joining("", "int main() {\n", "}\n"));
    Path source = folder.resolve("signatures.cpp");
    Files.writeString(source, headers + Files.readString(Path.of("src/test/resources/signatures.cpp")) + main);
    Path program = folder.resolve("signatures");
    Repository.compile("-std=c++20", "-I", Repository.ABI.toString(), "-o", program.toString(), source.toString());
    return program;
  }

  private static String describe(FunctionDescriptor function) {
    return Stream.concat(Stream.of(function.returnLayout().map(SignatureTest::describe).orElse("void")),
        function.argumentLayouts().stream().map(SignatureTest::describe)).collect(joining(" "));
  }

  private static String describe(MemoryLayout layout) {
    String kind = switch (layout) {
      case AddressLayout pointer -> "pointer";
      case ValueLayout.OfFloat real -> "floating";
      case ValueLayout.OfDouble real -> "floating";
      case ValueLayout integer -> "integer";
      case GroupLayout struct -> "struct";
      default -> throw new AssertionError("no C parameter has the layout " + layout);
    };
    return kind + ":" + layout.byteSize() + ":" + layout.byteAlignment();
  }
}
