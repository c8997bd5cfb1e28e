/**
 * The keys and block hashes under which engines and Gatun keep KV in a store: written as the engine writes them, and read
 * back.
 *
 * <p>Depends on {@code backend}, for the weight epoch.
 *
 * <pre>{@code
 * VllmBlockHasher hasher = new VllmBlockHasher(BlockHash.SHA256_CBOR, VllmRelease.V0_33, "0");
 * String hash = hasher.chain(tokens, 16, List.of()).getFirst();
 * VllmKey key = VllmKey.of("Qwen3-0.6B", hash).withRanks(1, 0, 0, 0);
 * store.get(KvKey.of(key.text(VllmRelease.V0_33)), target);
 * VllmKey.parse(listed).ifPresent(found -> System.out.println(found.model()));
 * }</pre>
 */
@NullMarked
package dev.gatun.codec;

import org.jspecify.annotations.NullMarked;
