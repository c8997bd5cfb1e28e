package dev.gatun.bench;

import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.HugePages;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.transfer.TransferEngine;
import java.io.IOException;
import java.util.List;

/** A process with an engine whose memory others read and write, until its standard input ends. */
final class EnginePeer {
  private EnginePeer() {}

  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    EngineOptions options = EngineLaunch.options(flags.word("--engine", List.of("loopback", "mooncake")));
    long bytes = flags.number("--bytes", 0);
    flags.requireKnown();
    try (Slab slab = Slab.allocate(SlabOptions.of("peer", bytes).withHugePages(HugePages.TRANSPARENT).prefaulted());
        TransferEngine engine = TransferEngine.open(options, new EpochGate(new WeightEpoch("bench", 1)))) {
      engine.register(slab);
      System.out.println(engine.segmentName() + ' ' + slab.segment().address());
      while (System.in.read() >= 0) {
        // waits for the parent, or for its end
      }
    }
  }
}
