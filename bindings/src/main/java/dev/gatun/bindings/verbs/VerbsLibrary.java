package dev.gatun.bindings.verbs;

import dev.gatun.bindings.linking.AllowedFunctions;
import dev.gatun.bindings.linking.LibraryVetting;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The shim behind {@link VerbsC}, one a process, and the libraries that it opens, of which there may be several. */
public final class VerbsLibrary {
  private static final int ENOENT = 2;
  private static final int ENOSYS = 38;
  private static final long REASON_BYTES = 1024; // a linker's message with two paths
  private static final String FIX = "use the libgatun_verbs.so of the same Gatun";
  private static @Nullable Path loaded;

  private VerbsLibrary() {}

  /**
   * Loads the shim for the life of the process. Loading the same file again does nothing. Any thread. Blocks while the
   * dynamic linker maps the file.
   *
   * @param shim
   *            {@code libgatun_verbs.so}
   * @throws IllegalStateException
   *             if this process has loaded another one: start another process for this
   * @throws UnsatisfiedLinkError
   *             if the file is missing, the dynamic linker refuses it, it lacks functions or is of another version: the
   *             message says which
   */
  public static synchronized void load(Path shim) {
    Path file = LibraryVetting.identity(shim);
    if (loaded != null) {
      if (loaded.equals(file)) return;
      throw new IllegalStateException("this process is bound to the verbs shim " + loaded + " and cannot be bound to "
          + file + " as well: use one a process");
    }
    LibraryVetting.require(List.of(file), functions(), FIX);
    loaded = file; // before loading: it counts as soon as it is mapped
    System.load(file.toString());
    int version = VerbsC.gatun_verbs_abi_version();
    if (version != VerbsC.GATUN_VERBS_ABI_VERSION()) {
      throw new UnsatisfiedLinkError(file + " has version " + version + " of the shim's interface, these bindings have "
          + VerbsC.GATUN_VERBS_ABI_VERSION() + "; " + FIX);
    }
  }

  /**
   * Opens a libibverbs for the life of the process. Opening the same one again answers the same number. Any thread. Blocks
   * while the dynamic linker maps the file and what it needs.
   *
   * @param library
   *            a file, or a name for the dynamic linker to find, such as {@code libibverbs.so.1}
   * @return its number in calls of {@link VerbsC}
   * @throws IllegalStateException
   *             if the process has opened too many
   * @throws UnsatisfiedLinkError
   *             if the dynamic linker refuses it or it lacks functions; the message says why, or which
   */
  public static int open(String library) {
    if (library.indexOf('\0') >= 0) throw new IllegalArgumentException("library must not contain NUL: " + library);
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment reason = call.allocate(REASON_BYTES);
      int number = VerbsC.gatun_verbs_open_library(call.allocateFrom(library), reason, REASON_BYTES);
      if (number > 0) return number;
      String why = reason.getString(0);
      if (number == -ENOENT) throw new UnsatisfiedLinkError("cannot open " + library + ": " + why);
      if (number == -ENOSYS) throw new UnsatisfiedLinkError("functions are missing from " + library + ": " + why);
      throw new IllegalStateException("cannot open " + library + ": errno " + -number);
    }
  }

  static List<String> functions() {
    return AllowedFunctions.of(VerbsLibrary.class, "gatun_verbs.includes");
  }
}
