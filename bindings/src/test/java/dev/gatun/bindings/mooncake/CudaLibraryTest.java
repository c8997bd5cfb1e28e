package dev.gatun.bindings.mooncake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.bindings.cuda.CudaLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class CudaLibraryTest {
  private static final String OPTIONAL = "cuMemcpyBatchAsync";
  private static final String REQUIRED = "cuStreamWaitEvent";

  @TempDir
  Path folder;

  /** One history of one process, in order, since a process binds once; surefire gives this class its own. */
  @Test
  @DisplayName("K14.03 a missing or incomplete driver is refused each time with all causes; then one is bound, without batch copies too")
  void bindsOneDriver() throws Exception {
    Path nowhere = folder.resolve("libcuda.so.1");
    for (int attempt = 0; attempt < 2; attempt++) {
      assertTrue(refusal(() -> CudaLibrary.load(nowhere)).contains(nowhere.toString()));
    }

    List<String> functions = AllowList.CUDA.functions();
    Path incomplete = library("incomplete", functions.stream().filter(name -> !name.equals(REQUIRED)));
    String missing = refusal(() -> CudaLibrary.load(incomplete));
    String counted = "1 of " + (functions.size() - 1); // all but the optional one
    assertTrue(missing.contains(counted) && missing.contains(REQUIRED) && missing.contains("install a driver"),
        missing);
    assertFalse(CudaLibrary.supportsBatchCopies());

    Path old = library("old", functions.stream().filter(name -> !name.equals(OPTIONAL)));
    assertEquals(old.toRealPath(), CudaLibrary.load(old));
    assertEquals(old.toRealPath(), CudaLibrary.load(old), "again");
    assertFalse(CudaLibrary.supportsBatchCopies());

    Path other = library("other", functions.stream());
    String second = Objects.requireNonNull(
        assertThrows(IllegalStateException.class, () -> CudaLibrary.load(other)).getMessage());
    assertTrue(second.contains(old.getFileName().toString()) && second.contains(other.getFileName().toString()),
        second);
  }

  private Path library(String name, Stream<String> functions) throws Exception {
    return SymbolLibrary.compile(folder, name, functions.toList());
  }

  private static String refusal(Executable load) {
    return Objects.requireNonNull(assertThrows(UnsatisfiedLinkError.class, load).getMessage());
  }
}
