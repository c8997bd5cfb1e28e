package dev.gatun.cli.replay;

import dev.gatun.backend.StoreOptions;
import dev.gatun.cli.console.JsonFields;
import dev.gatun.store.KeyCodec;
import dev.gatun.store.Verify;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one replica does; the same for all of them but for the number and the store's options.
 *
 * @param index its number, from 0
 * @param replicas how many there are; this one takes each request whose number leaves the rest {@code index}
 * @param trace where the requests come from
 * @param speed how fast trace time passes
 * @param refitEveryMillis trace time between refits, 0 for none
 * @param pageBytes bytes a page
 * @param batchPages most pages in one call
 * @param codec how pages are named and stamped
 * @param proof whether a refit removes, proves and reports, or removes and hopes
 * @param fault what breaks the refits
 * @param device where pages are made and checked
 * @param store how to open the store
 */
record ReplicaSettings(int index, int replicas, TraceSource trace, Speed speed, long refitEveryMillis, long pageBytes,
    int batchPages, KeyCodec codec, boolean proof, Fault fault, ReplayDevice device, StoreOptions store) {

  Map<String, Object> encode() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("index", index);
    map.put("replicas", replicas);
    map.put("trace", trace.encode());
    map.put("speed", speed.factor());
    map.put("refitEveryMillis", refitEveryMillis);
    map.put("pageBytes", pageBytes);
    map.put("batchPages", batchPages);
    map.put("namespace", codec.namespace());
    map.put("epochInKey", codec.epochInKey());
    map.put("verify", codec.verify().name());
    map.put("proof", proof);
    map.put("fault", fault.name());
    map.put("device", device.name());
    map.put("store", store.effective());
    return map;
  }

  static ReplicaSettings decode(JsonFields fields) {
    return new ReplicaSettings(fields.number("index").intValue(), fields.number("replicas").intValue(),
        TraceSource.decode(fields.object("trace")), new Speed(fields.number("speed").doubleValue()),
        fields.number("refitEveryMillis").longValue(), fields.number("pageBytes").longValue(),
        fields.number("batchPages").intValue(), codec(fields), fields.flag("proof"),
        Fault.valueOf(fields.text("fault")), ReplayDevice.valueOf(fields.text("device")),
        store(fields.object("store")));
  }

  private static KeyCodec codec(JsonFields fields) {
    return new KeyCodec(fields.text("namespace"), fields.flag("epochInKey"), Verify.valueOf(fields.text("verify")));
  }

  private static StoreOptions store(JsonFields fields) {
    Map<String, String> options = new HashMap<>();
    fields.map().forEach((name, value) -> {
      if (!value.equals("")) options.put(name.toString(), value.toString());
    });
    return StoreOptions.of(options).build();
  }
}
