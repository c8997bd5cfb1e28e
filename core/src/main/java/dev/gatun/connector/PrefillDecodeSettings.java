package dev.gatun.connector;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a fleet whose engines either prefill or decode, by the names that SkyRL gives them: {@code enable_pd},
 * {@code num_engines}, {@code num_prefill}, {@code data_parallel_size}, {@code prefill_init_kwargs},
 * {@code decode_init_kwargs}, {@code engine_init_kwargs}, {@code router_init_kwargs}.
 *
 * <p>Engine settings are given either once for both roles or for each role, never mixed; each must say how KV is moved.
 * Where no {@code kv_role} is given it is {@code kv_both}, in the children of a {@code MultiConnector} the parent's.
 *
 * @param engines engines of both roles
 * @param prefillEngines how many of them prefill
 * @param serversPerEngine servers of an engine, its data-parallel size
 * @param prefill how prefill engines are started
 * @param decode how decode engines are started
 * @param p2p what moves KV from one to the other
 * @param routerSettings changes to the router's arguments, see {@link RouterArguments#with}
 */
public record PrefillDecodeSettings(int engines, int prefillEngines, int serversPerEngine, RoleSettings prefill,
    RoleSettings decode, P2pConnector p2p, Map<String, @Nullable Object> routerSettings) {

  private static final String PREFILL = "prefill_init_kwargs";
  private static final String DECODE = "decode_init_kwargs";
  private static final String COMMON = "engine_init_kwargs";
  private static final String ROUTER = "router_init_kwargs";
  private static final String CONFIG = "kv_transfer_config";
  private static final Set<String> FIELDS = Set.of("enable_pd", "num_engines", "num_prefill", "data_parallel_size",
      PREFILL, DECODE, COMMON, ROUTER);
  // 65,536: above any fleet, so that sums stay in an int
  private static final int ENGINES_MAX = 65_536;

  /**
   * Reads and checks the settings.
   *
   * @param source the fields; a {@code kv_transfer_config} in them may be a map, JSON text or a typed value
   * @param generation of the engines that will be started
   * @return the settings
   * @throws IllegalArgumentException naming the field with its path, its value and the rule
   */
  public static PrefillDecodeSettings fromMap(Map<?, ?> source, EngineGeneration generation) {
    Map<Object, Object> configs = new LinkedHashMap<>();
    Fields fields = Fields.of("", withoutConfigs(source, configs));
    fields.requireKnown(FIELDS);
    String prefillFrom = fields.isGiven(PREFILL) ? PREFILL : COMMON;
    String decodeFrom = fields.isGiven(DECODE) ? DECODE : COMMON;
    requireDisaggregation(fields);
    int engines = (int) fields.integer("num_engines", 2, 2, ENGINES_MAX);
    RoleSettings prefill = role(fields.object(prefillFrom), configs.get(prefillFrom), generation);
    RoleSettings decode = role(fields.object(decodeFrom), configs.get(decodeFrom), generation);
    return new PrefillDecodeSettings(engines, (int) fields.integer("num_prefill", 1, 1, engines - 1),
        (int) fields.integer("data_parallel_size", 1, 1, ENGINES_MAX), prefill, decode,
        p2p(prefillFrom, prefill, decodeFrom, decode), fields.object(ROUTER).values());
  }

  /**
   * As {@link #fromMap}, from one JSON object.
   *
   * @param json the object
   * @param generation of the engines that will be started
   * @return the settings
   * @throws IllegalArgumentException if it is no JSON object, or as for {@link #fromMap}
   */
  public static PrefillDecodeSettings fromJson(String json, EngineGeneration generation) {
    return fromMap(ConfigJson.object("prefill/decode settings", json), generation);
  }

  /**
   * {@return the ports of the fleet's servers}
   *
   * @param base port of the first, {@link BootstrapPorts#BASE} in SkyRL
   * @throws IllegalArgumentException if they do not fit
   */
  public BootstrapPorts ports(int base) {
    return new BootstrapPorts(base, prefillEngines, engines - prefillEngines, serversPerEngine);
  }

  /**
   * {@return the router's arguments for running servers}
   *
   * @param prefillUrls of every prefill server, engine by engine
   * @param decodeUrls of every decode server
   * @param ports of {@link #ports}, whose base the servers were started with
   * @throws IllegalArgumentException if there are more or fewer URLs than servers, or a router setting is refused
   */
  public RouterArguments routerArguments(List<String> prefillUrls, List<String> decodeUrls, BootstrapPorts ports) {
    int[] bootstrap = p2p == P2pConnector.MOONCAKE ? ports.prefill() : new int[0];
    requireCount("prefillUrls", prefillUrls, prefillEngines);
    requireCount("decodeUrls", decodeUrls, engines - prefillEngines);
    return RouterArguments.prefillDecode(p2p, prefillUrls, bootstrap, decodeUrls).with(ROUTER, routerSettings);
  }

  private void requireCount(String field, List<String> urls, int groups) {
    long servers = (long) groups * serversPerEngine;
    if (urls.size() != servers) {
      throw new IllegalArgumentException(field + " must be one URL for each of " + servers + " servers: " + urls);
    }
  }

  /** Takes each kv_transfer_config out before the rest is copied as plain data: it may be a typed value. */
  private static Map<Object, @Nullable Object> withoutConfigs(Map<?, ?> source, Map<Object, Object> configs) {
    Map<Object, @Nullable Object> rest = new LinkedHashMap<>();
    source.forEach((field, value) -> {
      Object config = value instanceof Map<?, ?> settings && isEngineSettings(field) ? settings.get(CONFIG) : null;
      if (config != null && value instanceof Map<?, ?> settings) {
        configs.put(field, config);
        Map<Object, @Nullable Object> others = new LinkedHashMap<>(settings);
        others.put(CONFIG, ""); // keeps the place, for the question whether anything is given
        rest.put(field, others);
      } else {
        rest.put(field, value);
      }
    });
    return rest;
  }

  private static boolean isEngineSettings(Object field) {
    return PREFILL.equals(field) || DECODE.equals(field) || COMMON.equals(field);
  }

  private static void requireDisaggregation(Fields fields) {
    boolean prefill = fields.isGiven(PREFILL);
    boolean decode = fields.isGiven(DECODE);
    if (!fields.bool("enable_pd", false)) {
      String given = prefill ? PREFILL : DECODE;
      throw fields.refused("enable_pd",
          prefill || decode
              ? "must be true, since " + given + " is set"
              : "must be true for prefill and decode engines");
    }
    if (prefill != decode) {
      throw fields.refused(prefill ? DECODE : PREFILL,
          "must be set as well, since " + (prefill ? PREFILL : DECODE) + " is");
    }
    if (prefill && fields.isGiven(COMMON)) {
      throw fields.refused(COMMON, "must be absent beside " + PREFILL + " and " + DECODE + ", which replace it");
    }
  }

  private static RoleSettings role(Fields settings, @Nullable Object config, EngineGeneration generation) {
    String path = settings.name(CONFIG);
    if (config == null) {
      throw new IllegalArgumentException(
          path + " must be set: " + (settings.has(CONFIG) ? "null" : "absent"));
    }
    Map<String, @Nullable Object> others = new LinkedHashMap<>(settings.values());
    others.remove(CONFIG);
    return new RoleSettings(config(path, config, generation), Collections.unmodifiableMap(others));
  }

  private static KvTransferConfig config(String path, Object config, EngineGeneration generation) {
    return switch (config) {
      case KvTransferConfig typed -> typed;
      case Map<?, ?> map -> KvTransferConfig.at(path, RoleDefaults.of(map), generation);
      case String json -> KvTransferConfig.at(path, RoleDefaults.of(ConfigJson.object(path, json)), generation);
      default -> throw new IllegalArgumentException(
          path + " must be a map, JSON text or a KvTransferConfig: " + config.getClass().getName());
    };
  }

  private static P2pConnector p2p(String prefillFrom, RoleSettings prefill, String decodeFrom,
      RoleSettings decode) {
    String prefillPath = prefillFrom + '.' + CONFIG;
    String decodePath = decodeFrom + '.' + CONFIG;
    P2pConnector pushes = P2pConnector.of(prefillPath, prefill.kvTransferConfig());
    P2pConnector pulls = P2pConnector.of(decodePath, decode.kvTransferConfig());
    if (pushes != pulls) {
      throw new IllegalArgumentException(decodePath + ".kv_connector must move KV as prefill does, by "
          + pushes.connectorName() + ": \"" + pulls.connectorName() + '"');
    }
    if (!prefill.kvTransferConfig().produces()) {
      throw new IllegalArgumentException(prefillPath + ".kv_role must be kv_producer or kv_both for prefill: \""
          + KvRole.CONSUMER + '"');
    }
    if (!decode.kvTransferConfig().consumes()) {
      throw new IllegalArgumentException(decodePath + ".kv_role must be kv_consumer or kv_both for decode: \""
          + KvRole.PRODUCER + '"');
    }
    return pushes;
  }
}
