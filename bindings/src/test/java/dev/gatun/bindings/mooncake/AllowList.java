package dev.gatun.bindings.mooncake;

import dev.gatun.bindings.cuda.CudaC;
import dev.gatun.bindings.nixl.NixlC;
import dev.gatun.bindings.verbs.VerbsC;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The allow-lists of this module: the header each belongs to, the class made from it, and what it names. */
enum AllowList {
  STORE("mooncake_store", MooncakeStoreC.class), ENGINE("mooncake_transfer_engine", MooncakeEngineC.class), LOOPBACK(
      "gatun_loopback", LoopbackC.class),
  CUDA("gatun_cuda", CudaC.class), NIXL("nixl_capi", NixlC.class), VERBS("gatun_verbs", VerbsC.class);

  final String header;
  final Class<?> bindings;

  AllowList(String header, Class<?> bindings) {
    this.header = header;
    this.bindings = bindings;
  }

  List<String> functions() {
    return names("function");
  }

  List<String> structs() {
    return names("struct");
  }

  List<String> constants() {
    return names("constant");
  }

  private List<String> names(String kind) {
    Path file = Repository.ROOT.resolve("native/includes/" + header + ".includes");
    String option = "--include-" + kind + " ";
    try {
      return Files.readAllLines(file).stream().filter(line -> line.startsWith(option))
          .map(line -> line.substring(option.length()).strip()).toList();
    } catch (IOException e) {
      throw new AssertionError("no allow-list " + file, e);
    }
  }
}
