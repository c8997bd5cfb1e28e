package dev.gatun.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernels' PTX is committed, so that no compiler is needed at run time; here it is made again, without a GPU. */
class KernelPtxTest {
  private static final String FOLDER = "nvidia/cuda_nvrtc/lib/";
  private static final String LIBRARY = "libnvrtc.so.12";
  // 12.4: its PTX is read by every driver from CUDA 12.4 on; compute_80: and by every GPU from Ampere on
  private static final WheelPackage WHEEL = new WheelPackage("NVRTC", "nvidia-cuda-nvrtc-cu12", "12.4.127",
      "manylinux2014_x86_64", "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338", 25,
      "the test", "no own build");
  private static final List<String> OPTIONS = List.of("--gpu-architecture=compute_80", "--std=c++17",
      "-default-device");

  @ParameterizedTest
  @ValueSource(strings = {"pages", "known"})
  @DisplayName("the PTX of a kernel file is what NVRTC 12.4 makes of it")
  void madeAgain(String name) throws Throwable {
    Path kernels = Path.of(Objects.requireNonNull(System.getProperty("gatun.root")), "native", "kernels");
    WheelInstaller installer = new WheelInstaller(WHEEL, "nvrtc", 1, (wheel, directory, progress) -> new WheelFiles(
        directory, FOLDER, List.of(FOLDER))
        .unpack(wheel, List.of(FOLDER + LIBRARY, FOLDER + "libnvrtc-builtins.so.12.4")));
    Path installed = installer.install(CacheDirectory.root(), null, step -> {});
    String made = compile(installed.resolve(LIBRARY), name, Files.readString(kernels.resolve(name + ".cu")));
    assertEquals(made, Files.readString(kernels.resolve(name + ".ptx")), () -> "compile native/kernels/" + name
        + ".cu with NVRTC " + WHEEL.version() + " and " + OPTIONS + ": " + save(name, made));
  }

  private static Path save(String name, String ptx) {
    try {
      return Files.writeString(Files.createDirectories(Path.of("target")).resolve(name + ".ptx"), ptx);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String compile(Path library, String name, String source) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup nvrtc = SymbolLookup.libraryLookup(library, arena);
      MemorySegment out = arena.allocate(JAVA_LONG);
      check((int) bind(nvrtc, "nvrtcCreateProgram", ADDRESS, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS)
          .invokeExact(out, arena.allocateFrom(source), arena.allocateFrom(name + ".cu"), 0, MemorySegment.NULL,
              MemorySegment.NULL));
      long program = out.get(JAVA_LONG, 0);
      MemorySegment options = arena.allocate(ADDRESS, OPTIONS.size());
      for (int i = 0; i < OPTIONS.size(); i++)
        options.setAtIndex(ADDRESS, i, arena.allocateFrom(OPTIONS.get(i)));
      check((int) bind(nvrtc, "nvrtcCompileProgram", JAVA_LONG, JAVA_INT, ADDRESS).invokeExact(program, OPTIONS.size(),
          options));
      check((int) bind(nvrtc, "nvrtcGetPTXSize", JAVA_LONG, ADDRESS).invokeExact(program, out));
      MemorySegment ptx = arena.allocate(out.get(JAVA_LONG, 0));
      check((int) bind(nvrtc, "nvrtcGetPTX", JAVA_LONG, ADDRESS).invokeExact(program, ptx));
      return ptx.getString(0);
    }
  }

  private static MethodHandle bind(SymbolLookup symbols, String name, MemoryLayout... parameters) {
    return Linker.nativeLinker().downcallHandle(symbols.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, parameters));
  }

  private static void check(int status) {
    assertEquals(0, status, "status of NVRTC");
  }
}
