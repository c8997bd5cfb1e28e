/**
 * A small inference host, complete but for a real model: it shows how a host calls the connectors, and its tests show that
 * what it loads is what it would have computed.
 *
 * <p>Depends on {@code dev.gatun.connector} and what that stands on.
 *
 * <pre>{@code
 * KvConnector connector = KvConnectors.over(coordinator).withStore(store, cache.pageBytes()).open(config);
 * ExampleHost host = new ExampleHost(1, cache, Optional.of(connector));
 * List<Integer> answer = host.generate("request-1", prompt, 16);
 * host.loadWeights(2);
 * host.resetPrefixCache(new WeightEpoch("run-7", 2));
 * }</pre>
 */
@NullMarked
package dev.gatun.example;

import org.jspecify.annotations.NullMarked;
