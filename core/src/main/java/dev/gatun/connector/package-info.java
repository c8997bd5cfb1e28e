/**
 * Connectors: what an inference host calls to find, load and save the KV of a prefix elsewhere, and to reset it there.
 *
 * <p>Depends on {@code store}, {@code transfer}, {@code refit}, {@code memory}, {@code codec}, {@code backend} and the HTTP
 * client of {@code internal.http}.
 *
 * <pre>{@code
 * KvConnector connector = StoreConnector.open(store, coordinator, StoreTransferOptions.forPages(pageBytes));
 * connector.worker().registerCache(pool);
 * PrefixLookup found = connector.scheduler().lookup(request, 0);
 * connector.scheduler().allocated(request, blocks, 4);
 * connector.worker().startLoad(connector.scheduler().plan(step));
 * connector.scheduler().update(connector.worker().finished());
 * }</pre>
 */
@NullMarked
package dev.gatun.connector;

import org.jspecify.annotations.NullMarked;
