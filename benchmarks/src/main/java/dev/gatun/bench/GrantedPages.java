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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What a whole hand-over by grant takes in decode, from the grant until the pages may be used, over the time of the raw kernel:
 * one right behind the other, and in turns with those one after a pause, in which the threads of both sides go to sleep.
 */
final class GrantedPages {
  // at most as many calls as HotSpot takes to compile a method for good, at least twice as many as it takes to compile it at all,
  // and in between as many as 6 s of kernels
  private static final int WARMUPS_MIN = 400;
  private static final int WARMUPS_MAX = 6_000;
  private static final double WARMUP_MICROS = 6_000_000;
  private static final Duration LEASE = Duration.ofHours(1);
  private static final WeightEpoch EPOCH = new WeightEpoch("bench", 0);

  private GrantedPages() {}

  /** The sending side: offers the same pages under as many names as there are rounds, and has decode take them over. */
  static void measure(PlacedCache source, DeviceEvent ready, List<Integer> from, List<Integer> to, int rounds,
      int pauseMillis, double rawMicros, DecodeProcess decode, ObjectNode into) throws IOException {
    Path folder = Leftovers.temporaryFolder("gatun-grants-");
    double[] micros = new double[rounds];
    double[] pacedMicros = new double[rounds];
    int warmups = (int) Math.clamp(WARMUP_MICROS / rawMicros, WARMUPS_MIN, WARMUPS_MAX);
    try (DeviceSender sender = DeviceSender.listen(folder.resolve("sender"), source.cache(), new EpochGate(EPOCH))) {
      int[] blocks = from.stream().mapToInt(Integer::intValue).toArray();
      for (int round = 0; round < warmups + 2 * rounds; round++)
        sender.offer("round-" + round, blocks, ready, LEASE);
      DataOutputStream questions = decode.questions();
      questions.writeByte(Question.GRANTS.code());
      questions.writeUTF(sender.socket().toString());
      questions.writeInt(warmups);
      questions.writeInt(rounds);
      questions.writeInt(pauseMillis);
      questions.writeInt(to.size());
      for (int block : to)
        questions.writeInt(block);
      questions.flush();
      for (int round = 0; round < rounds; round++) {
        micros[round] = decode.answer() / 1e3;
        pacedMicros[round] = decode.answer() / 1e3;
      }
    } finally {
      Leftovers.delete(folder);
    }
    into.put("rawMicros", rawMicros).put("pauseMillis", pauseMillis).put("warmups", warmups);
    add("grant", micros, rawMicros, into);
    add("paced", pacedMicros, rawMicros, into);
  }

  private static void add(String name, double[] micros, double rawMicros, ObjectNode into) {
    double[] over = Arrays.stream(micros).map(one -> one - rawMicros).toArray();
    into.put(name + "Micros", Quantiles.median(micros)).put(name + "OverRawMicros", Quantiles.median(over))
        .put(name + "OverRawP99Micros", Quantiles.of(over, 0.99));
  }

  /** The receiving side: takes all of them over, every other one after a pause, and answers how long each took. */
  static void take(PlacedCache cache, DataInputStream in, DataOutputStream out) throws IOException {
    Path socket = Path.of(in.readUTF());
    int warmups = in.readInt();
    int rounds = in.readInt();
    long pauseNanos = TimeUnit.MILLISECONDS.toNanos(in.readInt());
    int[] blocks = new int[in.readInt()];
    for (int i = 0; i < blocks.length; i++)
      blocks[i] = in.readInt();
    try (DeviceReceiver receiver = DeviceReceiver.connect(socket, cache.cache(), new EpochGate(EPOCH),
        StagingCell.soon())) {
      for (int round = 0; round < warmups + 2 * rounds; round++) {
        boolean measured = round >= warmups;
        if (measured && (round - warmups) % 2 == 1) pause(pauseNanos);
        long start = System.nanoTime();
        DeviceGrant grant = receiver.grant("round-" + round, blocks, LEASE);
        switch (grant.await(StagingCell.soon())) {
          case COMMITTED -> {
            if (measured) out.writeLong(System.nanoTime() - start);
          }
          default -> throw new IllegalStateException(grant + ": " + grant.reason());
        }
      }
    }
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime())
      LockSupport.parkNanos(left);
  }
}
