package dev.gatun.cli.pd;

import dev.gatun.connector.BlockTable;

/** Prompts in the paged cache of a GPU that travel in blocks of a pool, which an engine moves. One thread. */
interface CarriedPages extends AutoCloseable {
  /** Makes the pages of a prompt on the GPU and brings them into blocks of the pool. Waits until they are there. */
  void compute(PromptPages prompt, BlockTable to);

  /** Brings pages from blocks of the pool into the cache. {@return the blocks of the cache that have them} */
  int[] load(PromptPages prompt, BlockTable from);

  @Override
  void close();
}
