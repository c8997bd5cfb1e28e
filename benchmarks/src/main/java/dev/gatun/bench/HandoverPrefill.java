package dev.gatun.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gatun.backend.SegmentDescriptor;
import dev.gatun.connector.KvRequest;
import dev.gatun.connector.KvRole;
import dev.gatun.connector.MooncakeConnector;
import dev.gatun.connector.RequestEnd;
import dev.gatun.transfer.TransferBatch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The process that has the blocks. It says who and where it is, then obeys lines: {@code target DESCRIPTOR ADDRESSES} before
 * the first raw transfer, {@code raw}, {@code offer NUMBER}; each is answered with one line. Flags: those of
 * {@link HandoverComparison}.
 */
final class HandoverPrefill {
  private final HandoverHost host;
  private List<TransferBatch> raw = List.of();

  private HandoverPrefill(HandoverHost host) {
    this.host = host;
  }

  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(arguments);
    String engine = flags.word("--engine", HandoverComparison.ENGINES);
    int blocks = Math.toIntExact(flags.number("--blocks", 1_000));
    long pageBytes = flags.bytes("--page-bytes", 65_536);
    flags.requireKnown();
    try (HandoverHost host = new HandoverHost(KvRole.PRODUCER, engine, blocks, pageBytes)) {
      Marks.write(host.pool, host.blocks);
      HandoverPrefill prefill = new HandoverPrefill(host);
      System.out.println(prefill.identity());
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine())
        System.out.println(prefill.obey(line.split(" ", -1)));
    }
  }

  private ObjectNode identity() {
    ObjectNode identity = JsonNodeFactory.instance.objectNode().put("engineId", host.config.engineId())
        .put("descriptor", Base64.getEncoder().encodeToString(host.engine.descriptor().toBytes()));
    if (host.connector instanceof MooncakeConnector push)
      push.bootstrapPort().ifPresent(port -> identity.put("bootstrap", "http://127.0.0.1:" + port));
    for (long address : host.addresses())
      identity.withArray("addresses").add(address);
    return identity;
  }

  private String obey(String[] words) throws IOException {
    return switch (words[0]) {
      case "target" -> {
        SegmentDescriptor descriptor = SegmentDescriptor.parse(Base64.getDecoder().decode(words[1]));
        long[] addresses = Arrays.stream(words[2].split(",", -1)).mapToLong(Long::parseLong).toArray();
        raw = host.raw(descriptor, addresses, false);
        yield "ready";
      }
      case "raw" -> Long.toString(HandoverHost.rawNanos(raw));
      case "offer" -> new ObjectMapper().writeValueAsString(offer(Long.parseLong(words[1])));
      default -> throw new IllegalArgumentException("not understood: " + words[0]);
    };
  }

  /** The request is computed already: its blocks are offered. {@return what decode is to be told} */
  private Map<String, ?> offer(long number) {
    host.connector.scheduler().update(host.connector.worker().finished());
    KvRequest request = host.request(number,
        Map.of("do_remote_decode", true, "transfer_id", HandoverComparison.transferId(number)));
    RequestEnd end = host.connector.scheduler().finished(request, host.blocks, host.blocks.size());
    host.connector.worker().save(host.connector.scheduler().plan(List.of()));
    return end.transferParams();
  }
}
