package dev.gatun.internal.backend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.MemoryRange;
import dev.gatun.bindings.nixl.NixlC;
import dev.gatun.bindings.nixl.NixlLibrary;
import dev.gatun.bindings.nixl.nixl_capi_agent_config;
import dev.gatun.internal.ffm.CStrings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A native agent with one backend: the calls that are not on the way of a transfer. Whoever calls has entered the agent's
 * handle; arguments are checked. Handles of lists and parameters live for one call, and are given back whatever happens.
 */
final class NixlAgent implements NixlPeer.Link {
  // NIXL's own name of it. With 0 the library's thread asks all the time and takes a core; with more it sleeps until
  // something arrives, and looks after so long, at least a millisecond, all the same (decision 0017). A second at most: what
  // it does not hear of waits so long
  private static final String PROGRESS_PAUSE = "pthr_delay_us";
  private static final long PROGRESS_PAUSE_MICROS = 100;
  private static final long PROGRESS_PAUSE_MICROS_MAX = 1_000_000;

  private final long agent;
  private final long backend;

  private NixlAgent(long agent, long backend) {
    this.agent = agent;
    this.backend = backend;
  }

  /**
   * Creates an agent. A thread of the library drives its transfers, so that peers are served while nobody here calls. Calls
   * on transfers run side by side, others exclude them. Blocks.
   *
   * @throws GatunException if it cannot be had
   */
  static NixlAgent create(EngineOptions options) {
    try (Arena call = Arena.ofConfined()) { // per call: names are copied inside
      MemorySegment config = nixl_capi_agent_config.allocate(call);
      nixl_capi_agent_config.enable_prog_thread(config, true);
      nixl_capi_agent_config.pthr_delay_us(config, progressPause(options));
      nixl_capi_agent_config.thread_sync(config, NixlC.NIXL_CAPI_THREAD_SYNC_RW());
      MemorySegment out = call.allocate(JAVA_LONG);
      int status = NixlC.nixl_capi_create_configured_agent(CStrings.encode(call, "localName", options.localName()),
          config, out);
      if (status != 0) {
        throw new GatunException("NIXL created no agent " + options.localName() + ": " + EngineCode.ofNixl(status)
            + " (" + status + "); look at the library's log");
      }
      long agent = out.get(JAVA_LONG, 0);
      try {
        return new NixlAgent(agent, backend(call, agent, options));
      } catch (RuntimeException e) {
        NixlC.nixl_capi_destroy_agent(agent);
        throw e;
      }
    }
  }

  static long progressPause(EngineOptions options) {
    String given = options.parameters().get(PROGRESS_PAUSE);
    if (given == null) return PROGRESS_PAUSE_MICROS;
    try {
      long micros = Long.parseLong(given);
      if (micros >= 0 && micros <= PROGRESS_PAUSE_MICROS_MAX) return micros;
    } catch (NumberFormatException e) {
      // refused below
    }
    throw new IllegalArgumentException(
        PROGRESS_PAUSE + " must be 0 to " + PROGRESS_PAUSE_MICROS_MAX + " microseconds: \"" + given + '"');
  }

  private static long backend(Arena call, long agent, EngineOptions options) {
    Map<String, String> parameters = new TreeMap<>(options.parameters());
    parameters.remove(PROGRESS_PAUSE); // the agent's, not the plugin's
    MemorySegment out = call.allocate(JAVA_LONG);
    check("params", NixlC.nixl_capi_create_params(out), options.localName());
    long params = out.get(JAVA_LONG, 0);
    try {
      parameters.forEach((name, value) -> check("params", NixlC.nixl_capi_params_add(params,
          CStrings.encode(call, "parameters", name), CStrings.encode(call, "parameters", value)), name));
      int status = NixlC.nixl_capi_create_backend(agent, CStrings.encode(call, "protocol", options.protocol()), params,
          out);
      if (status == 0) return out.get(JAVA_LONG, 0);
      throw new GatunException("NIXL started no backend " + options.protocol() + " with " + parameters + ": "
          + EngineCode.ofNixl(status) + " (" + status + "); plugins found: " + plugins(call, agent)
          + "; devices: " + (options.devices().isEmpty() ? "all" : options.devices())
          + "; look at the library's log, and at UCX_TLS if it is set");
    } finally {
      NixlC.nixl_capi_destroy_params(params);
    }
  }

  private static List<String> plugins(Arena call, long agent) {
    MemorySegment out = call.allocate(JAVA_LONG);
    if (NixlC.nixl_capi_get_available_plugins(agent, out) != 0) return List.of();
    long list = out.get(JAVA_LONG, 0);
    List<String> names = new ArrayList<>();
    long size = NixlC.nixl_capi_string_list_size(list, out) == 0 ? out.get(JAVA_LONG, 0) : 0;
    for (long i = 0; i < size; i++) {
      if (NixlC.nixl_capi_string_list_get(list, i, out) == 0) names.add(text(out.get(ADDRESS, 0)));
    }
    NixlC.nixl_capi_destroy_string_list(list);
    return names.stream().sorted().toList();
  }

  /** {@return the native agent} */
  long pointer() {
    return agent;
  }

  /** Ends the agent with all that is left of it. Requests that are in flight must not be touched afterwards. */
  void destroy() {
    NixlC.nixl_capi_destroy_backend(backend); // the handle: the backend itself goes with the agent
    NixlC.nixl_capi_destroy_agent(agent);
  }

  void register(MemoryRange range) {
    withRegion(range, list -> check("register", NixlC.nixl_capi_register_mem(agent, list, 0), range + hint(range)));
  }

  private static String hint(MemoryRange range) {
    return NixlRanges.kind(range.location()) == NixlC.NIXL_CAPI_MEM_VRAM()
        ? "; memory of a GPU needs UCX with its CUDA modules, a driver, and a GPU of that number: look at the library's log,"
            + " and at UCX_TLS if it is set"
        : "";
  }

  void unregister(MemoryRange range) {
    withRegion(range, list -> check("unregister", NixlC.nixl_capi_deregister_mem(agent, list, 0), range.toString()));
  }

  private interface RegionCall {
    void with(long list);
  }

  private static void withRegion(MemoryRange range, RegionCall use) {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment out = call.allocate(JAVA_LONG);
      check("register", NixlC.nixl_capi_create_reg_dlist(NixlRanges.kind(range.location()), out), range.toString());
      long list = out.get(JAVA_LONG, 0);
      try {
        check("register", NixlC.nixl_capi_reg_dlist_add_desc(list, range.address(), range.bytes(),
            NixlRanges.device(range.location()), MemorySegment.NULL, 0), range.toString());
        use.with(list);
      } finally {
        NixlC.nixl_capi_destroy_reg_dlist(list);
      }
    }
  }

  /** {@return how peers reach this agent and the memory registered now} */
  byte[] metadata() {
    try (Arena call = Arena.ofConfined()) { // per call
      MemorySegment blob = call.allocate(ADDRESS);
      MemorySegment bytes = call.allocate(JAVA_LONG);
      check("metadata", NixlC.nixl_capi_get_local_md(agent, blob, bytes), "of this agent");
      MemorySegment memory = blob.get(ADDRESS, 0);
      try {
        return memory.reinterpret(bytes.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
      } finally {
        NixlLibrary.free(memory);
      }
    }
  }

  @Override
  public String load(String name, byte[] metadata) {
    try (Arena call = Arena.ofConfined()) { // per call: copied inside
      MemorySegment out = call.allocate(ADDRESS);
      check("openSegment", NixlC.nixl_capi_load_remote_md(agent, call.allocateFrom(JAVA_BYTE, metadata),
          metadata.length, out), name + ": its metadata of " + metadata.length + " bytes was refused");
      MemorySegment loaded = out.get(ADDRESS, 0);
      try {
        return text(loaded);
      } finally {
        NixlLibrary.free(loaded);
      }
    }
  }

  @Override
  public void forget(String name) {
    try (Arena call = Arena.ofConfined()) { // per call
      NixlC.nixl_capi_invalidate_remote_md(agent, CStrings.encode(call, "name", name));
    }
  }

  /** Hands a message to the transport. {@return the status} */
  int notify(MemorySegment peer, byte[] message) {
    try (Arena call = Arena.ofConfined()) { // per call: copied inside
      MemorySegment bytes = call.allocateFrom(JAVA_BYTE, message);
      return NixlC.nixl_capi_gen_notif(agent, peer, bytes, message.length, 0);
    }
  }

  static void check(String operation, int status, String subject) {
    if (status != 0) throw new EngineException(operation, EngineCode.ofNixl(status), status, subject);
  }

  static String text(MemorySegment string) {
    return string.reinterpret(Long.MAX_VALUE).getString(0);
  }
}
