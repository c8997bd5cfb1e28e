package dev.gatun.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The calls of the C library that make memory. Each answers what the call answered, or the negated {@code errno}.
 * Constants are those of Linux, the same on x86-64 and aarch64 but for system call numbers.
 */
final class MemoryCalls {
  static final int ENOMEM = 12;
  static final int EINVAL = 22;
  static final int ENOSYS = 38;
  static final int EPERM = 1;

  static final int PROT_NONE = 0;
  static final int PROT_READ_WRITE = 3;
  static final int MADV_HUGEPAGE = 14;
  static final int MADV_POPULATE_WRITE = 23;

  private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
  private static final int SC_PAGESIZE = 30;
  private static final int RLIMIT_MEMLOCK = 8;
  private static final int MPOL_BIND = 2;
  private static final long SYS_MBIND = System.getProperty("os.arch").equals("aarch64") ? 235 : 237;
  private static final long NODE_BITS = SlabOptions.NODE_MAX + 1;

  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle STATE_ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static @Nullable MemoryCalls instance;

  private final MethodHandle mmap = bind("mmap",
      FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
  private final MethodHandle munmap = bind("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private final MethodHandle mprotect = bind("mprotect",
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private final MethodHandle madvise = bind("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private final MethodHandle syscall = bind("syscall", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG), Linker.Option.firstVariadicArg(1));
  private final MethodHandle getrlimit = bind("getrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
  private final MethodHandle sysconf = bind("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

  private MemoryCalls() {}

  /** {@return the calls, bound at the first use; not in a static initialiser, so that a failure repeats its cause} */
  static synchronized MemoryCalls get() {
    if (instance == null) {
      try {
        instance = new MemoryCalls();
      } catch (IllegalCallerException e) {
        // all modules that need it, so that nobody meets the refusal three times
        throw new IllegalCallerException("native access is not allowed; start java with --enable-native-access="
            + (MemoryCalls.class.getModule().isNamed()
                ? "dev.gatun.bindings,dev.gatun.core,dev.gatun.nativelib"
                : "ALL-UNNAMED"),
            e);
      }
    }
    return instance;
  }

  /** Maps anonymous private memory and returns its address, negative on error. */
  long map(long bytes, int protection, int extraFlags) {
    return call(mmap, 0L, bytes, protection, MAP_PRIVATE_ANONYMOUS | extraFlags, -1, 0L);
  }

  long unmap(long address, long bytes) {
    return call(munmap, address, bytes);
  }

  long protect(long address, long bytes, int protection) {
    return call(mprotect, address, bytes, protection);
  }

  long advise(long address, long bytes, int advice) {
    return call(madvise, address, bytes, advice);
  }

  /** Binds pages that are not yet touched to one NUMA node, by system call, so that libnuma need not be there. */
  long bindToNode(long address, long bytes, int node) {
    try (Arena arena = Arena.ofConfined()) { // per call
      MemorySegment mask = arena.allocate(NODE_BITS / Byte.SIZE, Long.BYTES);
      mask.setAtIndex(JAVA_LONG, node / Long.SIZE, 1L << node);
      // the kernel reads one bit less than it is told
      return call(syscall, SYS_MBIND, address, bytes, (long) MPOL_BIND, mask, NODE_BITS + 1, 0L);
    }
  }

  /** {@return bytes that may be locked, {@link Long#MAX_VALUE} if unlimited} */
  long memlockBytes() {
    try (Arena arena = Arena.ofConfined()) { // per call
      MemorySegment limit = arena.allocate(JAVA_LONG, 2);
      if (call(getrlimit, RLIMIT_MEMLOCK, limit) < 0) return Long.MAX_VALUE;
      long soft = limit.get(JAVA_LONG, 0);
      return soft < 0 ? Long.MAX_VALUE : soft;
    }
  }

  long pageBytes() {
    return call(sysconf, SC_PAGESIZE);
  }

  private static MethodHandle bind(String name, FunctionDescriptor descriptor, Linker.Option... more) {
    Linker linker = Linker.nativeLinker();
    Linker.Option[] options = Arrays.copyOf(more, more.length + 1);
    options[more.length] = Linker.Option.captureCallState("errno");
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor, options);
  }

  private static long call(MethodHandle function, Object... arguments) {
    try (Arena arena = Arena.ofConfined()) { // per call
      MemorySegment state = arena.allocate(STATE);
      Object[] all = new Object[arguments.length + 1];
      all[0] = state;
      System.arraycopy(arguments, 0, all, 1, arguments.length);
      long result = ((Number) function.invokeWithArguments(all)).longValue();
      return result == -1 ? -(int) STATE_ERRNO.get(state, 0L) : result;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("a C function threw", e);
    }
  }
}
