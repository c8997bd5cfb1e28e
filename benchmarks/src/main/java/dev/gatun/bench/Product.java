package dev.gatun.bench;

import java.nio.file.Path;

/** Matrix products, the stand-in for the model beside which pages move. One thread at a time. */
interface Product {
  /** Queues some, one after the other. */
  void queue(int products);

  /** {@return whether what was queued last runs} */
  boolean isRunning();

  /** {@return milliseconds that what was queued last took; waits for it} */
  double millis();

  /**
   * Makes products on a GPU, or by a thread where GPUs are made of host memory.
   *
   * @param driver of the GPU
   * @param library made of {@code benchmarks/cuda/product.cu}; not looked at for the driver of host memory
   * @param ordinal of the GPU
   * @param size of the matrices
   */
  static Product on(String driver, String library, int ordinal, int size) {
    return driver.equals("host") ? new HostProduct(size) : new MatrixProduct(Path.of(library), ordinal, size);
  }
}
