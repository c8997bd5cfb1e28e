package dev.gatun.nativelib;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/** An agent by hand-made downcalls: this module lies below the bindings, and its runtime must be proven without them. */
final class RawNixl {
  private final SymbolLookup symbols;
  private final long agent;

  private RawNixl(SymbolLookup symbols, long agent) {
    this.symbols = symbols;
    this.agent = agent;
  }

  static RawNixl create(SymbolLookup symbols) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment agent = arena.allocate(JAVA_LONG);
      check((int) bind(symbols, "create_agent", ADDRESS, ADDRESS).invokeExact(arena.allocateFrom("test"), agent));
      return new RawNixl(symbols, agent.get(JAVA_LONG, 0));
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  List<String> plugins() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check((int) bind(symbols, "get_available_plugins", JAVA_LONG, ADDRESS).invokeExact(agent, out));
      long list = out.get(JAVA_LONG, 0);
      check((int) bind(symbols, "string_list_size", JAVA_LONG, ADDRESS).invokeExact(list, out));
      List<String> names = new ArrayList<>();
      MemorySegment text = arena.allocate(ADDRESS);
      for (long i = 0; i < out.get(JAVA_LONG, 0); i++) {
        check((int) bind(symbols, "string_list_get", JAVA_LONG, JAVA_LONG, ADDRESS).invokeExact(list, i, text));
        names.add(text.get(ADDRESS, 0).reinterpret(Long.MAX_VALUE).getString(0));
      }
      return names.stream().sorted().toList();
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /** {@return the status: 0 when the plugin was found, loaded and started} */
  int createBackend(String plugin) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = arena.allocate(JAVA_LONG);
      check((int) bind(symbols, "create_params", ADDRESS).invokeExact(params));
      MemorySegment backend = arena.allocate(JAVA_LONG);
      return (int) bind(symbols, "create_backend", JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS).invokeExact(agent,
          arena.allocateFrom(plugin), params.get(JAVA_LONG, 0), backend);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  void destroy() {
    try {
      check((int) bind(symbols, "destroy_agent", JAVA_LONG).invokeExact(agent));
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static void check(int status) {
    if (status != 0) throw new AssertionError("status " + status);
  }

  private static MethodHandle bind(SymbolLookup symbols, String name, MemoryLayout... arguments) {
    return Linker.nativeLinker().downcallHandle(symbols.find("nixl_capi_" + name).orElseThrow(),
        FunctionDescriptor.of(JAVA_INT, arguments));
  }
}
