package dev.gatun.codec;

import java.util.HexFormat;
import java.util.List;

/**
 * What {@code sha256_cbor} hashes: {@code [parent, [token, …], null | [extra, …]]}.
 *
 * @param tagged whether extras carry the name of their kind
 */
record CborInput(boolean tagged) implements HashInput {

  @Override
  public byte[] seed(String text) {
    return new CborWriter().text(Text.utf8("seed", text)).toBytes();
  }

  @Override
  public byte[] block(byte[] parent, long[] tokens, int from, int to, List<BlockExtra> extras) {
    CborWriter out = new CborWriter().array(3).bytes(parent).array(to - from);
    for (int i = from; i < to; i++)
      out.number(tokens[i]);
    if (extras.isEmpty()) return out.none().toBytes();
    out.array(extras.size());
    for (BlockExtra extra : extras)
      write(out, extra);
    return out.toBytes();
  }

  private void write(CborWriter out, BlockExtra extra) {
    switch (extra) {
      case BlockExtra.Lora lora -> {
        if (tagged) text(text(out.array(3), "lora"), lora.name()).text(Text.utf8("lora.path", lora.path()));
        else
          text(out, lora.name());
      }
      case BlockExtra.Multimodal input -> {
        if (tagged) text(out.array(3), "mm");
        else
          out.array(2);
        text(out, input.hash()).number(input.offset());
      }
      case BlockExtra.CacheSalt salt -> text(tagged ? text(out.array(2), "cache_salt") : out, salt.salt());
      case BlockExtra.PromptEmbeddings embeddings ->
        (tagged ? text(out.array(2), "prompt_embeds") : out).bytes(HexFormat.of().parseHex(embeddings.digest()));
    }
  }

  private static CborWriter text(CborWriter out, String value) {
    return out.text(Text.utf8("extra", value));
  }
}
