package dev.gatun.nativelib;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Loads libraries so that everything they miss is known at once, and says what the loader said. */
final class DynamicLoader {
  // "libx.so.1: cannot open shared object file: No such file or directory", the message of glibc and musl's first part
  private static final Pattern MISSING = Pattern.compile("(\\S+\\.so[.\\d]*): cannot open shared object file");

  /** Packages of Debian and Ubuntu that hold what Mooncake and its variants link to. */
  private static final Map<String, String> PACKAGES = Map.of("libibverbs.so.1", "libibverbs1", "libnuma.so.1",
      "libnuma1", "libcurl.so.4", "libcurl4", "libstdc++.so.6", "libstdc++6", "libgcc_s.so.1", "libgcc-s1",
      "liblzma.so.5", "liblzma5", "librdmacm.so.1", "librdmacm1");

  private DynamicLoader() {}

  /** Loads in order, privately, all symbols resolved; never unloads, since such libraries leave threads behind. */
  static SymbolLookup openAll(List<Path> loadOrder) {
    List<MemorySegment> handles = new ArrayList<>();
    for (Path library : loadOrder)
      handles.add(open(library, LibC.RTLD_NOW));
    return name -> find(handles.reversed(), name);
  }

  private static Optional<MemorySegment> find(List<MemorySegment> handles, String name) {
    for (MemorySegment handle : handles) {
      MemorySegment symbol = LibC.get().dlsym(handle, name);
      if (symbol.address() != 0) return Optional.of(symbol);
    }
    return Optional.empty();
  }

  static MemorySegment open(Path library, int flags) {
    LibC libc = LibC.get();
    if (!Files.isRegularFile(library)) {
      throw new LibraryUnavailableException("library does not exist: " + library, List.of(), "correct the path");
    }
    MemorySegment handle = libc.dlopen(library.toAbsolutePath().toString(), flags);
    if (handle.address() != 0) return handle;
    String reason = libc.dlerror();
    throw new LibraryUnavailableException("cannot load " + library + ": " + reason,
        List.of("dlopen, with LD_LIBRARY_PATH=" + System.getenv().getOrDefault("LD_LIBRARY_PATH", "(not set)")),
        fixFor(reason));
  }

  static String fixFor(String reason) {
    Matcher missing = MISSING.matcher(reason);
    if (!missing.find()) {
      if (reason.contains("GLIBC")) return "a library built for this system's C library, or a newer system";
      if (reason.contains("failed to map segment")) {
        return "-D" + CacheDirectory.PROPERTY + "=DIRECTORY on a file system that is not mounted noexec";
      }
      return "a build of the library that matches this machine";
    }
    return fixForMissing(missing.group(1).substring(missing.group(1).lastIndexOf('/') + 1));
  }

  static String fixForMissing(String soname) {
    String debianPackage = PACKAGES.get(soname);
    if (debianPackage != null) return "apt-get install " + debianPackage;
    if (soname.startsWith("libcudart.so") || soname.startsWith("libcuda.so")) {
      return soname
          + " belongs to CUDA: take the build of the library for the CUDA major version of this machine, or add"
          + " the directory of " + soname + " to LD_LIBRARY_PATH; for one without CUDA: gatun mooncake install";
    }
    if (soname.equals("libascendcl.so")) return "gatun mooncake install (it makes a stand-in for the Ascend runtime)";
    return "install " + soname + ", or add its directory to LD_LIBRARY_PATH";
  }
}
