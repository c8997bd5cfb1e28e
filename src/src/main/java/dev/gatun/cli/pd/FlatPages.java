package dev.gatun.cli.pd;

import dev.gatun.backend.EpochGate;
import dev.gatun.connector.BlockTable;
import dev.gatun.device.Completion;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.KvShape;
import dev.gatun.device.KvStrides;
import dev.gatun.device.PageCopy;
import dev.gatun.device.PagePush;
import dev.gatun.device.PagedCache;
import dev.gatun.device.PagedKvLayout;
import dev.gatun.device.StreamPriority;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.Slab;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Prompts that a kernel brings into contiguous blocks in the memory of the same GPU, and back: those an engine moves at once. */
final class FlatPages implements CarriedPages {
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final DevicePrompts prompts;
  private final BlockPool pool;
  private final PagePush out;
  private final PagePush in;

  FlatPages(DevicePrompts prompts, PoolLayout layout, EpochGate gate, int promptPages) {
    this.prompts = prompts;
    Device gpu = prompts.gpu();
    try {
      DeviceSlab memory = opened(gpu.allocate("flat pages", layout.totalBytes()));
      Slab slab = opened(memory.asSlab("flat pages"));
      pool = opened(BlockPool.over(slab, layout, gate));
      DeviceStream stream = opened(gpu.newStream("flat pages", StreamPriority.LOW));
      PageCopy kernels = opened(PageCopy.load(gpu));
      PagedCache paged = new PagedCache(prompts.view(), List.of(prompts.memory()));
      PagedCache flat = new PagedCache(flat(prompts.view().shape(), layout, memory.address()), List.of(memory));
      out = opened(PagePush.open(kernels, stream, paged, flat, promptPages));
      in = opened(PagePush.open(kernels, stream, flat, paged, promptPages));
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** A block after the other, each with all layers. */
  private static PagedKvLayout flat(KvShape shape, PoolLayout layout, long address) {
    List<Long> parts = new ArrayList<>();
    for (long part = 0; part < (long) shape.layers() * shape.parts(); part++)
      parts.add(address + part * shape.partBytes());
    return new PagedKvLayout(shape, KvStrides.tokensFirst(shape).withBlockBytes(layout.strideBytes()), parts,
        layout.pageCount(), PagedKvLayout.NO_NULL_BLOCK);
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.push(resource);
    return resource;
  }

  /** {@return the blocks that an engine moves; they close with this} */
  BlockPool pool() {
    return pool;
  }

  @Override
  public void compute(PromptPages prompt, BlockTable to) {
    int[] blocks = prompts.lease(prompt.pages());
    out.clear(DevicePrompts.soon());
    for (int page = 0; page < blocks.length; page++)
      out.add(blocks[page], pool.blockIndex(to.get(page)));
    move(out, prompts.fill(blocks, prompt.prompt(), PromptPages.VERSION));
    prompts.release(blocks);
  }

  @Override
  public int[] load(PromptPages prompt, BlockTable from) {
    int[] blocks = prompts.lease(prompt.pages());
    in.clear(DevicePrompts.soon());
    for (int page = 0; page < blocks.length; page++)
      in.add(pool.blockIndex(from.get(page)), blocks[page]);
    move(in, prompts.idle());
    return blocks;
  }

  private static void move(PagePush push, Completion after) {
    push.send(after).await(DevicePrompts.soon());
  }

  @Override
  public void close() {
    DevicePrompts.closeAll(opened);
  }
}
