package dev.gatun.transfer.device;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.device.Completion;
import dev.gatun.device.CudaDrivers;
import dev.gatun.device.DeviceEvent;
import dev.gatun.device.DeviceStream;
import dev.gatun.device.Hold;
import dev.gatun.device.StreamPriority;
import dev.gatun.testing.Await;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The other process of {@link DeviceLinkContract}, on another GPU where there is one: a sender, or a receiver. Obeys lines of its
 * standard input and ends with it.
 */
final class LinkProcess {
  static final Duration LEASE = Duration.ofMinutes(5);

  private LinkProcess() {}

  /** Arguments: driver, {@code send} or {@code receive}, socket, own ranks, other side's ranks, tokens of a block. */
  public static void main(String[] arguments) throws Exception {
    String driver = arguments[0];
    int ordinal = CudaDrivers.probe(driver).devices().size() > 1 ? 1 : 0;
    Path socket = Path.of(arguments[2]);
    EpochGate gate = new EpochGate(new WeightEpoch("run", 0));
    try (
        LinkBed bed = new LinkBed(driver, ordinal, Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]),
            Integer.parseInt(arguments[5]));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      if (arguments[1].equals("send")) send(bed, gate, socket, commands);
      else
        receive(bed, gate, socket, commands);
    }
  }

  /**
   * {@code offer NAME SEED BLOCKS}, {@code offer-held NAME SEED BLOCKS} (the GPU is busy until {@code release}),
   * {@code offer-quietly NAME SEED BLOCKS}, {@code wait} for the end of that, {@code raise}, {@code withdraw NAME},
   * {@code over NAME} (until its blocks are free), {@code attached} (until no receiver's memory is).
   */
  @SuppressWarnings("SystemOut")
  private static void send(LinkBed bed, EpochGate gate, Path socket, BufferedReader commands) throws Exception {
    Map<String, Hold> holds = new HashMap<>();
    Map<String, DeviceOffer> offers = new HashMap<>();
    DeviceOffer quiet = null;
    int waits = 0;
    try (DeviceStream engine = bed.gpu().newStream("engine", StreamPriority.HIGH);
        DeviceEvent held = bed.gpu().newEvent("held");
        DeviceSender sender = DeviceSender.listen(socket, bed.cache(), gate)) {
      System.out.println("listening");
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        List<String> words = List.of(line.split(" ", -1));
        switch (words.getFirst()) {
          case "offer", "offer-held" -> {
            Completion ready = bed.fill(blocks(words.get(3)), Long.parseLong(words.get(2)));
            if (words.getFirst().equals("offer-held")) {
              holds.put("held", new Hold(engine));
              engine.record(held);
              ready = held;
            }
            DeviceOffer offer = sender.offer(words.get(1), blocks(words.get(3)), ready, LEASE);
            offers.put(words.get(1), offer);
            System.out.println("offered " + words.get(1));
            Thread.ofPlatform().daemon().start(() -> {
              Await.until("somebody asks", () -> sender.offers() == 0);
              if (words.getFirst().equals("offer-held")) Await.until("the GPU has its push", sender::isPushing);
              System.out.println("taken " + offer.name());
              System.out.println("ended " + offer.name() + ' ' + offer.await(LinkBed.soon()) + ' ' + offer.reason());
            });
          }
          case "offer-quietly" -> {
            Completion ready = bed.fill(blocks(words.get(3)), Long.parseLong(words.get(2)));
            quiet = sender.offer(words.get(1), blocks(words.get(3)), ready, LEASE);
          }
          case "wait" -> {
            DeviceOffer offered = Objects.requireNonNull(quiet);
            offered.withdraw(); // unless somebody has asked for it
            offered.await(LinkBed.soon());
            System.out.println("waited " + waits++);
          }
          case "withdraw" -> {
            Objects.requireNonNull(offers.get(words.get(1))).withdraw();
            System.out.println("withdrew " + words.get(1));
          }
          case "over" -> {
            DeviceOffer offer = Objects.requireNonNull(offers.get(words.get(1)));
            Await.until("nothing reads its blocks", offer::isOver);
            System.out.println("over " + words.get(1) + ' ' + offer.outcome());
          }
          case "attached" -> {
            Await.until("its memory is closed", () -> sender.attached() == 0);
            System.out.println("none attached");
          }
          case "release" -> Objects.requireNonNull(holds.remove("held")).close();
          case "raise" -> {
            gate.close();
            gate.raise(new WeightEpoch("run", gate.epoch().version() + 1));
            gate.parts().forEach(part -> part.failQueued());
            gate.open(EpochGate.State.OPEN);
            System.out.println("raised");
          }
          default -> throw new IllegalArgumentException(line);
        }
      }
    } finally {
      holds.values().forEach(Hold::close);
    }
    System.out.println("closed");
  }

  /** {@code grant NAME BLOCKS}. */
  @SuppressWarnings("SystemOut")
  private static void receive(LinkBed bed, EpochGate gate, Path socket, BufferedReader commands) throws Exception {
    try (DeviceReceiver receiver = DeviceReceiver.connect(socket, bed.cache(), gate, LinkBed.soon())) {
      System.out.println("connected");
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        List<String> words = List.of(line.split(" ", -1));
        receiver.grant(words.get(1), blocks(words.get(2)), LEASE);
        System.out.println("granted " + words.get(1));
      }
    }
  }

  static int[] blocks(String text) {
    return Arrays.stream(text.split(",", -1)).mapToInt(Integer::parseInt).toArray();
  }
}
