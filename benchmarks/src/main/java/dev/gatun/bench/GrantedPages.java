package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.bench.DecodeSide.Question;
import dev.gatun.device.Device;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceSlab;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.StreamPriority;
import dev.gatun.nativelib.Leftovers;
import dev.gatun.transfer.HandoverOutcome;
import dev.gatun.transfer.device.DeviceGrant;
import dev.gatun.transfer.device.DeviceOffer;
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
 * What a whole hand-over by grant takes in decode over the time of the raw kernel. From the grant until the pages may be used:
 * one right behind the other, and in turns with those one after a pause, in which the threads of both sides go to sleep. And, as
 * when decode grants room while prefill computes, from the moment in which the pages are made.
 */
final class GrantedPages {
  // of one page each: as many calls as HotSpot takes to compile a method for good (Tier4CompileThreshold), since most of a
  // hand-over is called once in it
  private static final int SMALL_WARMUPS = 15_000;
  // of all pages: for loops over them
  private static final int WARMUPS = 400;
  private static final Duration LEASE = Duration.ofHours(1);
  // what stands for prefill's computing: longer than a grant takes to arrive, some 2 ms of an H200
  private static final long COMPUTED_BYTES = 1L << 30;
  private static final int COMPUTATIONS = 8;
  private static final WeightEpoch EPOCH = new WeightEpoch("bench", 0);

  private GrantedPages() {}

  /** The sending side: offers the same pages under as many names as there are rounds, and has decode take them over. */
  static void measure(PlacedCache source, DeviceEvent ready, List<Integer> from, List<Integer> to, int rounds,
      int pauseMillis, double rawMicros, DecodeProcess decode, ObjectNode into) throws IOException {
    Path folder = Leftovers.temporaryFolder("gatun-grants-");
    double[] micros = new double[rounds];
    double[] pacedMicros = new double[rounds];
    double[] aheadMicros;
    try (DeviceSender sender = DeviceSender.listen(folder.resolve("sender"), source.cache(), new EpochGate(EPOCH))) {
      int[] blocks = from.stream().mapToInt(Integer::intValue).toArray();
      for (int round = 0; round < SMALL_WARMUPS; round++)
        sender.offer("small-" + round, new int[]{blocks[0]}, ready, LEASE);
      for (int round = 0; round < WARMUPS + 2 * rounds; round++)
        sender.offer("round-" + round, blocks, ready, LEASE);
      DataOutputStream questions = decode.questions();
      questions.writeByte(Question.GRANTS.code());
      questions.writeUTF(sender.socket().toString());
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
      aheadMicros = ahead(sender, source.memory().device(), blocks, rounds, decode);
    } finally {
      Leftovers.delete(folder);
    }
    into.put("rawMicros", rawMicros).put("pauseMillis", pauseMillis).put("smallWarmups", SMALL_WARMUPS)
        .put("warmups", WARMUPS);
    add("grant", micros, rawMicros, into);
    add("paced", pacedMicros, rawMicros, into);
    add("ahead", aheadMicros, rawMicros, into);
  }

  /** {@return microseconds from the end of what makes the pages until decode may use them, which has granted room before} */
  private static double[] ahead(DeviceSender sender, Device gpu, int[] blocks, int rounds, DecodeProcess decode)
      throws IOException {
    double[] micros = new double[rounds];
    try (DeviceSlab computed = gpu.allocate("computed", Math.min(COMPUTED_BYTES, gpu.freeBytes() / 4));
        DeviceStream model = gpu.newStream("model", StreamPriority.HIGH);
        DeviceEvent made = gpu.newEvent("made")) {
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < COMPUTATIONS; i++)
          model.fill(computed, 0, computed.byteSize(), (byte) i);
        model.record(made);
        DeviceOffer offer = sender.offer("ahead-" + round, blocks, made, LEASE);
        made.await(StagingCell.soon());
        long start = System.nanoTime();
        micros[round] = (decode.answer() - start) / 1e3;
        offer.await(StagingCell.soon());
      }
    }
    return micros;
  }

  private static void add(String name, double[] micros, double rawMicros, ObjectNode into) {
    double[] over = Arrays.stream(micros).map(one -> one - rawMicros).toArray();
    into.put(name + "Micros", Quantiles.median(micros)).put(name + "OverRawMicros", Quantiles.median(over))
        .put(name + "OverRawP99Micros", Quantiles.of(over, 0.99));
  }

  /** The receiving side: takes all of them over, every other one after a pause, and answers how long each took. */
  static void take(PlacedCache cache, DataInputStream in, DataOutputStream out) throws IOException {
    Path socket = Path.of(in.readUTF());
    int rounds = in.readInt();
    long pauseNanos = TimeUnit.MILLISECONDS.toNanos(in.readInt());
    int[] blocks = new int[in.readInt()];
    for (int i = 0; i < blocks.length; i++)
      blocks[i] = in.readInt();
    try (DeviceReceiver receiver = DeviceReceiver.connect(socket, cache.cache(), new EpochGate(EPOCH),
        StagingCell.soon())) {
      for (int round = 0; round < SMALL_WARMUPS; round++)
        take(receiver.grant("small-" + round, new int[]{blocks[0]}, LEASE));
      for (int round = 0; round < WARMUPS + 2 * rounds; round++) {
        boolean measured = round >= WARMUPS;
        if (measured && (round - WARMUPS) % 2 == 1) pause(pauseNanos);
        long start = System.nanoTime();
        take(receiver.grant("round-" + round, blocks, LEASE));
        if (measured) out.writeLong(System.nanoTime() - start);
      }
      out.flush();
      for (int round = 0; round < rounds; round++) {
        take(receiver.grant("ahead-" + round, blocks, LEASE));
        out.writeLong(System.nanoTime()); // of the clock that all processes share
        out.flush();
      }
    }
  }

  private static void take(DeviceGrant grant) {
    if (grant.await(StagingCell.soon()) == HandoverOutcome.COMMITTED) return;
    throw new IllegalStateException(grant + ": " + grant.reason());
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime())
      LockSupport.parkNanos(left);
  }
}
