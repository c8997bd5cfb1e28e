package dev.gatun.device;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.LongFunction;

/** Kernels of {@code native/kernels}, which lie beside this class as PTX that the driver translates. */
final class Ptx {
  private Ptx() {}

  /**
   * Loads a module and what is made of it; unloads it again if that fails. Blocks while the driver translates.
   *
   * @param device the GPU
   * @param file such as {@code pages.ptx}
   * @param resource makes what owns the module
   * @return what was made
   */
  static <R extends DeviceResource> R load(Device device, String file, LongFunction<R> resource) {
    String text = text(file);
    return device.make("load " + file, () -> {
      long module = device.driver().loadModule(text);
      try {
        return resource.apply(module);
      } catch (RuntimeException | Error e) {
        device.driver().unloadModule(module);
        throw e;
      }
    });
  }

  private static String text(String file) {
    try (InputStream in = Ptx.class.getResourceAsStream(file)) {
      if (in == null) throw new IllegalStateException(file + " is missing beside this class");
      return new String(in.readAllBytes(), US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
