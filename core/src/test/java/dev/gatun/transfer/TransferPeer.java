package dev.gatun.transfer;

import static java.util.stream.Collectors.joining;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.EngineNotification;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.BlockPool;
import dev.gatun.memory.PoolLayout;
import dev.gatun.memory.PoolOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/** Main class of a process with one engine, which does what its standard input says, line by line, until that ends. */
final class TransferPeer {
  static final String LAYOUT = "sha256:peer";

  private TransferPeer() {}

  public static void main(String[] arguments) throws IOException {
    TransferSubject subject = switch (arguments[0]) {
      case EngineOptions.MOONCAKE -> new MooncakeTransferSubject();
      case EngineOptions.NIXL -> new NixlTransferSubject();
      default -> new LoopbackTransferSubject();
    };
    long pageBytes = Long.parseLong(arguments[1]);
    int pages = Integer.parseInt(arguments[2]);
    EpochGate gate = new EpochGate(new WeightEpoch("transfer", 1));
    BlockPool pool = BlockPool.allocate(new PoolLayout(pageBytes, pages, 64), gate, PoolOptions.named("peer"));
    try (TransferEngine engine = TransferEngine.open(subject.options(), gate);
        Handovers handovers = Handovers.over(engine)) {
      engine.register(pool.slab());
      long[] blocks = new long[pages];
      for (int i = 0; i < pages; i++) {
        blocks[i] = pool.lease();
        TransferBench.fill(pool.rewrite(blocks[i]), 1_000 + i);
      }
      System.out.println("addresses " + Arrays.stream(blocks)
          .mapToObj(block -> Long.toString(pool.blockAddress(block) + pool.headerBytes())).collect(joining(",")));
      System.out.println("descriptor " + Base64.getEncoder().encodeToString(engine.descriptor().toBytes()));
      serve(engine, handovers, pool, blocks);
    }
  }

  private static void serve(TransferEngine engine, Handovers handovers, BlockPool pool, long[] blocks)
      throws IOException {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PushTarget target = null;
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      List<String> words = List.of(line.split(" ", -1));
      switch (words.getFirst()) {
        case "grant" -> {
          target = handovers.grantPush(pool, blocks, LAYOUT, Duration.ofSeconds(60));
          System.out.println("grant " + Base64.getEncoder().encodeToString(target.grant().toBytes()));
        }
        case "begin" -> {
          // accepts a grant, and moves nothing
          Grant grant = Grant.parse(Base64.getDecoder().decode(words.get(1)));
          engine.notify(engine.openSegment(grant.segment()),
              new HandoverMessage(HandoverMessage.Kind.ACCEPT, grant.id(),
                  UUID.randomUUID(), grant.epoch(), Told.by(engine).toBytes()).encode(),
              Deadline.after(TransferBench.WAIT_MAX));
          System.out.println("begun " + grant.id());
        }
        case "offer" -> System.out.println("offer " + Base64.getEncoder()
            .encodeToString(handovers.offer(pool, blocks, LAYOUT, Duration.ofSeconds(60)).grant().toBytes()));
        case "outcome" -> System.out.println("outcome "
            + (target == null ? "none" : target.await(Deadline.after(TransferBench.WAIT_MAX))));
        case "message" -> {
          EngineNotification message = engine.takeNotification(Deadline.after(TransferBench.WAIT_MAX));
          System.out.println("message " + (message == null ? "none" : message.text()));
        }
        case "check" -> {
          int seed = Integer.parseInt(words.get(1));
          boolean good = true;
          for (int i = 0; i < blocks.length; i++)
            good &= TransferBench.holds(pool.page(blocks[i]), seed + i);
          System.out.println("check " + seed + ' ' + good);
        }
        default -> System.out.println("not understood: " + line);
      }
    }
  }
}
