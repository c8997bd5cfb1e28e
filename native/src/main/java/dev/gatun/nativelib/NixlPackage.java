package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * What is taken out of NIXL's package: the C interface, the plugins UCX and POSIX, and the transports of UCX for one
 * host, TCP and CUDA, each with what it is linked to. The two folders keep their places, since libraries and plugins find
 * each other by them: NIXL looks for plugins beside its own library, UCX for transports beside its own.
 *
 * <p>The RDMA transports stay behind. The package brings a libibverbs of its own, which loads the system's device
 * drivers and with them the system's libibverbs and libnl; with both copies in one process every exit ends in a
 * segmentation fault, measured in C, Python and Java. RDMA needs a build that is linked to the system's libraries.
 */
final class NixlPackage {
  static final WheelPackage WHEEL = new WheelPackage("NIXL", "nixl-cu13", NixlInstaller.VERSION,
      "manylinux_2_28_x86_64", "6279834382eeabab60bfc2fe62c2363cda3bf520278bbd4a007932cc76073de5", 59,
      "gatun nixl install", "NIXL_LIBRARY=/path/to/libnixl_capi.so");
  static final String LIBRARY = ".nixl_cu13.mesonpy.libs/libnixl_capi.so";
  private static final String OWN = ".nixl_cu13.mesonpy.libs/";
  private static final String OTHERS = "nixl_cu13.libs/";
  private static final List<String> TRANSPORTS = Stream.of("libuct_cma", "libuct_cuda", "libucm_cuda")
      .map(name -> OTHERS + "ucx/" + name + ".so.0.0.0").toList();
  private static final List<String> ROOTS = List.of(LIBRARY, OWN + "plugins/libplugin_UCX.so",
      OWN + "plugins/libplugin_POSIX.so");

  private NixlPackage() {}

  static void take(Path wheel, Path directory, Consumer<String> progress) throws IOException {
    WheelFiles files = new WheelFiles(directory, "", List.of(OWN, OTHERS));
    Map<String, ElfFile> needed = files.unpack(wheel, ROOTS);
    SystemLibraries.require(new ArrayList<>(WheelFiles.systemNeeds(needed)));
    // UCX passes over a transport whose libraries (CUDA's) are not there, so those need no checking
    files.unpack(wheel, TRANSPORTS);
    progress.accept("took " + needed.size() + " libraries with the plugins UCX and POSIX");
  }
}
