package dev.gatun.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;

/**
 * One size and kind of work over NIXL.
 *
 * @param blockBytes bytes a block
 * @param batch blocks a transfer
 * @param layout {@link #SCATTERED} or {@link #CONSECUTIVE}
 * @param operation {@code read} or {@code write}
 */
record NixlCell(long blockBytes, int batch, String layout, String operation) {
  /** No two blocks adjoin on both sides. */
  static final String SCATTERED = "scattered";
  /** Blocks lie side by side on both sides. */
  static final String CONSECUTIVE = "consecutive";

  /** The program in Java. */
  static final String JAVA = "java";
  /** Python with descriptors prepared once, and indices for each transfer. */
  static final String PREPARED = "prepared";
  /** Python with descriptors made for each transfer. */
  static final String FRESH = "fresh";

  static NixlCell of(JsonNode measured) {
    return new NixlCell(measured.path("blockBytes").asLong(), measured.path("batch").asInt(),
        measured.path("layout").asText(), measured.path("operation").asText());
  }

  /** {@return slots that a cell's slab is cut into} */
  int slots() {
    return 2 * batch;
  }

  /** {@return the slot of a block here} The Python program computes the same. */
  int localSlot(int block) {
    return layout.equals(CONSECUTIVE) ? block : (5 * block + 1) % slots();
  }

  /** {@return the slot of a block with the peer} */
  int remoteSlot(int block) {
    return layout.equals(CONSECUTIVE) ? block : (3 * block + 2) % slots();
  }

  ObjectNode json() {
    return JsonNodeFactory.instance.objectNode().put("blockBytes", blockBytes).put("batch", batch)
        .put("layout", layout).put("operation", operation);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%7d x %3d %-11s %-5s", blockBytes, batch, layout, operation);
  }
}
