package dev.gatun.device;

import dev.gatun.memory.SlabOwner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Keeps a GPU's memory for a slab of it, and binds the GPU's context for the calls of native libraries. */
final class GpuOwner implements SlabOwner {
  private final DeviceSlab memory;

  GpuOwner(DeviceSlab memory) {
    this.memory = memory;
  }

  @Override
  public String place() {
    return memory.device().place();
  }

  /** A virtual thread could go on elsewhere within the call and leave the context behind: a platform thread makes it. */
  @Override
  public void run(Runnable call) {
    if (!Thread.currentThread().isVirtual()) {
      runBound(call);
      return;
    }
    try {
      CompletableFuture.runAsync(() -> runBound(call), task -> Thread.ofPlatform().daemon().start(task)).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failure) throw failure;
      throw e;
    }
  }

  private void runBound(Runnable call) {
    memory.device().bind();
    try {
      call.run();
    } finally {
      memory.device().unbind();
    }
  }

  @Override
  public void release() {
    memory.letGo(this);
  }

  @Override
  public String toString() {
    return "slab of " + memory;
  }
}
