package dev.gatun.fleet;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A Llama of two layers with random weights, as an engine loads one from a folder: configuration, weights, and a tokenizer
 * of one word a token. Nothing of it is fetched, and what it says means nothing.
 */
final class TinyModel {
  static final int LAYERS = 2;
  static final int KV_HEADS = 2;
  static final int HEAD_ELEMENTS = 64;
  static final int TOKENS = 512;
  static final int CONTEXT_TOKENS = 2048;
  private static final int HIDDEN = 256;
  private static final int INTERMEDIATE = 512;
  private static final int HEADS = 4;
  private static final int ELEMENT_BYTES = 2; // bfloat16
  private static final long SEED = 1;

  private final Map<String, int[]> shapes = new LinkedHashMap<>();

  private TinyModel() {
    shapes.put("model.embed_tokens.weight", new int[]{TOKENS, HIDDEN});
    for (int layer = 0; layer < LAYERS; layer++) {
      String name = "model.layers." + layer + '.';
      shapes.put(name + "input_layernorm.weight", new int[]{HIDDEN});
      shapes.put(name + "self_attn.q_proj.weight", new int[]{HEADS * HEAD_ELEMENTS, HIDDEN});
      shapes.put(name + "self_attn.k_proj.weight", new int[]{KV_HEADS * HEAD_ELEMENTS, HIDDEN});
      shapes.put(name + "self_attn.v_proj.weight", new int[]{KV_HEADS * HEAD_ELEMENTS, HIDDEN});
      shapes.put(name + "self_attn.o_proj.weight", new int[]{HIDDEN, HEADS * HEAD_ELEMENTS});
      shapes.put(name + "post_attention_layernorm.weight", new int[]{HIDDEN});
      shapes.put(name + "mlp.gate_proj.weight", new int[]{INTERMEDIATE, HIDDEN});
      shapes.put(name + "mlp.up_proj.weight", new int[]{INTERMEDIATE, HIDDEN});
      shapes.put(name + "mlp.down_proj.weight", new int[]{HIDDEN, INTERMEDIATE});
    }
    shapes.put("model.norm.weight", new int[]{HIDDEN});
    shapes.put("lm_head.weight", new int[]{TOKENS, HIDDEN});
  }

  /** Writes it into a new folder, whose name becomes the model's in store keys. */
  static Path write(Path folder) throws IOException {
    Files.createDirectories(folder);
    json(folder.resolve("config.json"), configuration());
    json(folder.resolve("tokenizer.json"), tokenizer());
    json(folder.resolve("tokenizer_config.json"), Map.of("tokenizer_class", "PreTrainedTokenizerFast", "bos_token",
        "t0", "eos_token", "t1", "unk_token", "t2", "pad_token", "t3", "model_max_length", CONTEXT_TOKENS));
    Files.write(folder.resolve("model.safetensors"), new TinyModel().weights());
    return folder;
  }

  /** Bytes that a block takes in a store: keys and values of every layer and head. */
  static long blockBytes(int blockTokens) {
    return 2L * LAYERS * KV_HEADS * HEAD_ELEMENTS * blockTokens * ELEMENT_BYTES;
  }

  private static Map<String, Object> configuration() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("architectures", List.of("LlamaForCausalLM"));
    values.put("model_type", "llama");
    values.put("vocab_size", TOKENS);
    values.put("hidden_size", HIDDEN);
    values.put("intermediate_size", INTERMEDIATE);
    values.put("num_hidden_layers", LAYERS);
    values.put("num_attention_heads", HEADS);
    values.put("num_key_value_heads", KV_HEADS);
    values.put("head_dim", HEAD_ELEMENTS);
    values.put("max_position_embeddings", CONTEXT_TOKENS);
    values.put("hidden_act", "silu");
    values.put("rms_norm_eps", 1e-6);
    values.put("rope_theta", 10_000.0);
    values.put("tie_word_embeddings", false);
    values.put("bos_token_id", 0);
    values.put("eos_token_id", 1);
    values.put("pad_token_id", 3);
    values.put("torch_dtype", "bfloat16");
    return values;
  }

  private static Map<String, Object> tokenizer() {
    Map<String, Integer> words = new LinkedHashMap<>();
    for (int token = 0; token < TOKENS; token++)
      words.put("t" + token, token);
    return Map.of("version", "1.0", "added_tokens", List.of(), "pre_tokenizer", Map.of("type", "WhitespaceSplit"),
        "model", Map.of("type", "WordLevel", "vocab", words, "unk_token", "t2"));
  }

  private static void json(Path file, Map<String, Object> values) throws IOException {
    new ObjectMapper().writeValue(file.toFile(), values);
  }

  /** The safetensors form: length of a JSON header, the header, and the tensors one after the other. */
  private byte[] weights() throws IOException {
    Map<String, Object> header = new LinkedHashMap<>();
    int end = 0;
    for (Map.Entry<String, int[]> tensor : shapes.entrySet()) {
      int start = end;
      end = start + elements(tensor.getValue()) * ELEMENT_BYTES;
      header.put(tensor.getKey(),
          Map.of("dtype", "BF16", "shape", tensor.getValue(), "data_offsets", List.of(start, end)));
    }
    byte[] text = new ObjectMapper().writeValueAsString(header).getBytes(StandardCharsets.UTF_8);
    ByteBuffer file = ByteBuffer.allocate(Long.BYTES + text.length + end).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(text.length).put(text);
    Random random = new Random(SEED);
    shapes.forEach((name, shape) -> {
      boolean norm = shape.length == 1;
      for (int i = elements(shape); i > 0; i--)
        file.putShort(bfloat16(norm ? 1 : (float) (0.05 * random.nextGaussian())));
    });
    return file.array();
  }

  private static int elements(int[] shape) {
    return shape.length == 1 ? shape[0] : shape[0] * shape[1];
  }

  private static short bfloat16(float value) {
    return (short) (Float.floatToIntBits(value) >>> 16);
  }
}
