package dev.gatun.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.ServerSocket;

/** A store by hand-made downcalls: this module lies below the bindings, and its runtime must be proven without them. */
final class RawStore {
  private final SymbolLookup symbols;
  private final MemorySegment handle;

  private RawStore(SymbolLookup symbols, MemorySegment handle) {
    this.symbols = symbols;
    this.handle = handle;
  }

  static RawStore create(SymbolLookup symbols) {
    try {
      MemorySegment handle = (MemorySegment) bind(symbols, "create", ADDRESS).invokeExact();
      if (handle.address() == 0) throw new AssertionError("create answered NULL");
      return new RawStore(symbols, handle);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /** A host ending in {@code :0} gets a free port. */
  int setup(String host, long segmentBytes, long bufferBytes, String master) throws IOException {
    String name = host.endsWith(":0") ? host.substring(0, host.length() - 1) + freePort() : host;
    try (Arena arena = Arena.ofConfined()) {
      return (int) bind(symbols, "setup", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS,
          ADDRESS).invokeExact(handle, arena.allocateFrom(name), arena.allocateFrom("P2PHANDSHAKE"), segmentBytes,
              bufferBytes, arena.allocateFrom("tcp"), arena.allocateFrom(""), arena.allocateFrom(master));
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  int put(String key, byte[] value) {
    try (Arena arena = Arena.ofConfined()) {
      return (int) bind(symbols, "put", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS).invokeExact(handle,
          arena.allocateFrom(key), arena.allocateFrom(JAVA_BYTE, value), (long) value.length, MemorySegment.NULL);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  long getInto(String key, byte[] target) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(target.length);
      long bytes = (long) bind(symbols, "get_into", JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG).invokeExact(handle,
          arena.allocateFrom(key), buffer, (long) target.length);
      MemorySegment.copy(buffer, JAVA_BYTE, 0, target, 0, target.length);
      return bytes;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  int exists(String key) {
    try (Arena arena = Arena.ofConfined()) {
      return (int) bind(symbols, "is_exist", JAVA_INT, ADDRESS, ADDRESS).invokeExact(handle, arena.allocateFrom(key));
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  long removeAll(boolean force) {
    try {
      return (long) bind(symbols, "remove_all", JAVA_LONG, ADDRESS, JAVA_INT).invokeExact(handle, force ? 1 : 0);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  void destroy() {
    try {
      Linker linker = Linker.nativeLinker();
      linker.downcallHandle(symbols.find("mooncake_store_destroy").orElseThrow(), FunctionDescriptor.ofVoid(ADDRESS))
          .invokeExact(handle);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static MethodHandle bind(SymbolLookup symbols, String name, MemoryLayout result, MemoryLayout... arguments) {
    return Linker.nativeLinker().downcallHandle(symbols.find("mooncake_store_" + name).orElseThrow(),
        FunctionDescriptor.of(result, arguments));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
