package dev.gatun.bench;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Matrix products on a thread of its own, as the kernels of GPUs that are made of host memory; lives with the process. */
final class HostProduct implements Product {
  private final ExecutorService thread = Executors
      .newSingleThreadExecutor(Thread.ofPlatform().daemon().name("product-", 0).factory());
  private final int size;
  private final float[] left;
  private final float[] right;
  private final float[] result;
  private Future<Long> nanos = CompletableFuture.completedFuture(0L);

  HostProduct(int size) {
    this.size = size;
    left = new float[size * size];
    right = new float[size * size];
    result = new float[size * size];
    for (int i = 0; i < size * size; i++) {
      left[i] = i % 7;
      right[i] = i % 5;
    }
  }

  @Override
  public void queue(int products) {
    nanos = thread.submit(() -> {
      long start = System.nanoTime();
      for (int product = 0; product < products; product++)
        multiply();
      return System.nanoTime() - start;
    });
  }

  private void multiply() {
    for (int row = 0; row < size; row++) {
      for (int column = 0; column < size; column++)
        result[row * size + column] = 0;
      for (int inner = 0; inner < size; inner++) {
        float factor = left[row * size + inner];
        for (int column = 0; column < size; column++)
          result[row * size + column] += factor * right[inner * size + column];
      }
    }
  }

  @Override
  public boolean isRunning() {
    return !nanos.isDone();
  }

  @Override
  public double millis() {
    try {
      return nanos.get() / 1e6;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
