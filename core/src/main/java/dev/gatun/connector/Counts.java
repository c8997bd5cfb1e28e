package dev.gatun.connector;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Named counts. Usable by any thread. */
final class Counts {
  private final Map<String, LongAdder> adders = new ConcurrentHashMap<>();

  /** Makes a name appear even while it is 0. */
  Counts(String... names) {
    for (String name : names)
      adders.put(name, new LongAdder());
  }

  void add(String name, long count) {
    adders.computeIfAbsent(name, missing -> new LongAdder()).add(count);
  }

  Map<String, Long> snapshot() {
    return adders.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().sum()));
  }
}
