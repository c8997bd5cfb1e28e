package dev.gatun.cli.pd;

import dev.gatun.connector.BlockTable;
import dev.gatun.device.PinnedSlab;
import dev.gatun.device.StagedBatch;
import dev.gatun.device.StagedBatch.Direction;
import dev.gatun.device.StagingOptions;
import dev.gatun.device.StagingPipeline;
import dev.gatun.memory.BlockPool;
import java.util.List;

/** Prompts in device memory that go through blocks of a pool in pinned host memory. One thread. */
final class StagedPages implements CarriedPages {
  private static final int CHUNKS = 6;

  private final DevicePrompts prompts;
  private final PinnedSlab pinned;
  private final StagingPipeline pipeline;
  private final StagedBatch saves;
  private final StagedBatch loads;

  StagedPages(DevicePrompts prompts, BlockPool pool, int promptPages) {
    this.prompts = prompts;
    pinned = prompts.gpu().pin(pool.slab());
    pipeline = StagingPipeline.open(prompts.view(), List.of(prompts.memory()), pool, pinned,
        options(pool.layout().pageBytes() * promptPages));
    saves = pipeline.batch(Direction.SAVE, promptPages);
    loads = pipeline.batch(Direction.LOAD, promptPages);
  }

  /** The usual ring, smaller where a whole prompt is. */
  private static StagingOptions options(long promptBytes) {
    StagingOptions usual = StagingOptions.DEFAULT;
    long chunkBytes = Math.min(usual.chunkBytes(), promptBytes);
    return new StagingOptions(Math.min(usual.ringBytes(), CHUNKS * chunkBytes), chunkBytes, usual.saveDirectBytes(),
        usual.loadDirectBytes());
  }

  @Override
  public void compute(PromptPages prompt, BlockTable to) {
    int[] blocks = prompts.lease(prompt.pages());
    saves.clear(DevicePrompts.soon());
    for (int page = 0; page < blocks.length; page++)
      saves.add(blocks[page], to.get(page));
    saves.send(prompts.fill(blocks, prompt.prompt(), PromptPages.VERSION)).await(DevicePrompts.soon());
    prompts.release(blocks);
  }

  @Override
  public int[] load(PromptPages prompt, BlockTable from) {
    int[] blocks = prompts.lease(prompt.pages());
    loads.clear(DevicePrompts.soon());
    for (int page = 0; page < blocks.length; page++)
      loads.add(blocks[page], from.get(page));
    loads.send(prompts.idle()).await(DevicePrompts.soon());
    return blocks;
  }

  /** The pool and the GPU's memory close after it. */
  @Override
  public void close() {
    saves.close();
    loads.close();
    pipeline.close();
    pinned.close();
  }
}
