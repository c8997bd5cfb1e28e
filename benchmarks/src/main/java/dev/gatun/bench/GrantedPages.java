package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.bench.DecodeSide.Question;
import dev.gatun.device.DeviceEvent;
import dev.gatun.nativelib.Leftovers;
import dev.gatun.transfer.device.DeviceGrant;
import dev.gatun.transfer.device.DeviceReceiver;
import dev.gatun.transfer.device.DeviceSender;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** What a whole hand-over by grant takes in decode, from the grant until the pages may be used, over the time of the raw kernel. */
final class GrantedPages {
  private static final int WARMUPS = 20;
  private static final Duration LEASE = Duration.ofHours(1);
  private static final WeightEpoch EPOCH = new WeightEpoch("bench", 0);

  private GrantedPages() {}

  /** The sending side: offers the same pages under as many names as there are rounds, and has decode take them over. */
  static void measure(PlacedCache source, DeviceEvent ready, List<Integer> from, List<Integer> to, int rounds,
      double rawMicros, DataInputStream answers, DataOutputStream questions, ObjectNode into) throws IOException {
    Path folder = Leftovers.temporaryFolder("gatun-grants-");
    double[] micros = new double[rounds];
    try (DeviceSender sender = DeviceSender.listen(folder.resolve("sender"), source.cache(), new EpochGate(EPOCH))) {
      int[] blocks = from.stream().mapToInt(Integer::intValue).toArray();
      for (int round = 0; round < rounds + WARMUPS; round++)
        sender.offer("round-" + round, blocks, ready, LEASE);
      questions.writeByte(Question.GRANTS.code());
      questions.writeUTF(sender.socket().toString());
      questions.writeInt(rounds);
      questions.writeInt(to.size());
      for (int block : to)
        questions.writeInt(block);
      questions.flush();
      for (int round = 0; round < rounds; round++)
        micros[round] = answers.readLong() / 1e3;
    } finally {
      Leftovers.delete(folder);
    }
    double[] over = Arrays.stream(micros).map(one -> one - rawMicros).toArray();
    into.put("grantMicros", Quantiles.median(micros)).put("rawMicros", rawMicros)
        .put("grantOverRawMicros", Quantiles.median(over)).put("grantOverRawP99Micros", Quantiles.of(over, 0.99));
  }

  /** The receiving side: takes all of them over, and answers how long each took. */
  static void take(PlacedCache cache, DataInputStream in, DataOutputStream out) throws IOException {
    Path socket = Path.of(in.readUTF());
    int rounds = in.readInt();
    int[] blocks = new int[in.readInt()];
    for (int i = 0; i < blocks.length; i++)
      blocks[i] = in.readInt();
    try (DeviceReceiver receiver = DeviceReceiver.connect(socket, cache.cache(), new EpochGate(EPOCH),
        StagingCell.soon())) {
      for (int round = 0; round < rounds + WARMUPS; round++) {
        long start = System.nanoTime();
        DeviceGrant grant = receiver.grant("round-" + round, blocks, LEASE);
        switch (grant.await(StagingCell.soon())) {
          case COMMITTED -> {
            if (round >= WARMUPS) out.writeLong(System.nanoTime() - start);
          }
          default -> throw new IllegalStateException(grant + ": " + grant.reason());
        }
      }
    }
  }
}
