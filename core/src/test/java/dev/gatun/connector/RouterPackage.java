package dev.gatun.connector;

import dev.gatun.testing.PinnedWheel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The real vllm-router for tests. It runs on any Python 3.8 or later. */
final class RouterPackage {
  private static final PinnedWheel WHEEL = new PinnedWheel("vllm-router==0.1.17",
      "vllm_router-0.1.17-cp38-abi3-manylinux_2_28_x86_64.whl",
      "85c96bea4d573a49b5a8ae4c72ee3dfe733aba26b6f1ff1256e6142f1f42694d",
      List.of("--platform", "manylinux_2_28_x86_64", "--python-version", "3.8", "--abi", "abi3"));

  private RouterPackage() {}

  /** {@return a folder for {@code PYTHONPATH} in which the package lies} */
  static Path unpacked() throws IOException, InterruptedException {
    return WHEEL.unpacked(List.of("vllm_router/", "vllm_router.libs/", "vllm_router_rs."));
  }
}
