package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.Observer;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.codec.BlockHash;
import dev.gatun.codec.GatunKey;
import dev.gatun.codec.PageGeometry;
import dev.gatun.codec.PageName;
import dev.gatun.codec.VllmBlockHasher;
import dev.gatun.codec.VllmKey;
import dev.gatun.codec.VllmRelease;
import dev.gatun.internal.backend.MooncakeTestRuntime;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Gatun and Mooncake's own Python client on one real master: what either puts, the other gets, byte for byte. */
@Tag("mooncake")
class PythonClientTest {
  private static final WeightEpoch EPOCH = new WeightEpoch("run", 3);
  private static final MooncakeTestRuntime RUNTIME = MooncakeTestRuntime.shared();
  private static PythonClient python = start();

  @TempDir
  Path folder;

  private static PythonClient start() {
    try {
      return PythonClient.start(RUNTIME.master().rpcAddress());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError("the Python client must run", e);
    }
  }

  @BeforeAll
  static void ready() throws IOException {
    assertEquals(0, python.ask("exists", "python/none"));
  }

  @AfterAll
  static void stop() {
    python.close();
  }

  private static KvStore store(KeyCodec codec) {
    return KvStore.open(RUNTIME.pureClient().localBufferBytes(16L << 20).build(), codec, new EpochGate(EPOCH),
        Observer.NONE);
  }

  private static byte[] random(int bytes) {
    byte[] value = new byte[bytes];
    new Random(bytes).nextBytes(value);
    return value;
  }

  private static byte[] get(KvStore store, String key, int bytes) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment room = arena.allocate(bytes);
      assertEquals(new GetResult.Hit(bytes), store.get(KvKey.of(key), room), key);
      return room.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4096, 32_768, 3_000_001})
  @DisplayName("what the Python client puts, whole or in buffers, Gatun finds, sizes and gets byte for byte")
  void pythonToJava(int bytes) throws IOException {
    byte[] value = random(bytes);
    Path file = Files.write(folder.resolve("value"), value);
    String whole = "python/whole/" + bytes;
    assertEquals(0, python.ask("put", whole, file.toString()));
    try (KvStore store = store(KeyCodec.verbatim())) {
      assertEquals(Existence.PRESENT, store.exists(KvKey.of(whole)));
      assertEquals(new SizeResult.Known(bytes), store.size(KvKey.of(whole)));
      assertArrayEquals(value, get(store, whole, bytes));
      assertEquals(new RemoveResult.Removed(), store.remove(KvKey.of(whole), true));
      assertEquals(0, python.ask("exists", whole));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4096, 32_768, 3_000_001})
  @DisplayName("what Gatun puts under its own keys, the Python client finds by them and gets byte for byte")
  void javaToPython(int bytes) throws IOException {
    byte[] value = random(bytes);
    Path file = folder.resolve("got");
    PageName page = new PageName("Qwen/Qwen3-8B", "main", new PageGeometry(36, 8, 128, 16), "bfloat16", 0, 1,
        "5a".repeat(28) + String.format("%08x", bytes));
    String key = GatunKey.of("cross", EPOCH, page).text();
    try (KvStore store = store(KeyCodec.epoch("cross"))) {
      assertEquals(new PutResult.Stored(), store.put(KvKey.of(page.text()), MemorySegment.ofArray(value)));
      assertEquals(1, python.ask("exists", key), key);
      assertEquals(bytes, python.ask("size", key));
      assertEquals(bytes, python.ask("get", key, file.toString()));
      assertArrayEquals(value, Files.readAllBytes(file));
      assertEquals(bytes, python.ask("get_into", key, file.toString()));
      assertArrayEquals(value, Files.readAllBytes(file));
    }
  }

  @Test
  @DisplayName("K10 blocks put as vLLM puts them, under keys that it makes: found, sized and read by the prompt's tokens")
  void vllmValues() throws IOException {
    // what a real vLLM 0.32 stored for this prompt; here the Python client puts it, since no vLLM runs
    List<String> keys = List.of(
        "tiny-llama@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@81663bd4288b984e0a1cc105c0804327993efe3279283a1e48c6f46ef58bc531",
        "tiny-llama@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@96b566d111ad349fdd8cb787c51c3020ec5407a3f382dec9636c20c02188688b",
        "tiny-llama@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@4e5312ea3b25d66b6eb5019cab9abf7af3de56f71ffb49904af31f9cdca7b050");
    int bytes = 32_768; // 2 layers, keys and values, 2 heads, 32 tokens, 64 elements of 2 bytes
    byte[] value = random(bytes);
    Path file = Files.write(folder.resolve("value"), value);
    for (String key : keys)
      assertEquals(0, python.ask("put_buffers", key, file.toString(), "2"));
    long[] prompt = LongStream.range(0, 100).map(i -> (9 + 7 * i) % 250).toArray();
    List<String> hashes = new VllmBlockHasher(BlockHash.SHA256, VllmRelease.V0_32, "0").chain(prompt, 32, List.of());
    try (KvStore store = store(KeyCodec.verbatim())) {
      for (String hash : hashes) {
        String key = VllmKey.of("tiny-llama", hash).text(VllmRelease.V0_32);
        assertEquals(new SizeResult.Known(bytes), store.size(KvKey.of(key)), key);
        assertArrayEquals(value, get(store, key, bytes));
      }
      assertEquals(3, store.removePrefix("tiny-llama@", true));
    }
  }
}
