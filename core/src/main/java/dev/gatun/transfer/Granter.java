package dev.gatun.transfer;

import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.transfer.HandoverMessage.Kind;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The granter's side: what was granted and is not over, and what peers say about it. Usable by any thread. */
final class Granter {
  private static final Logger LOG = LoggerFactory.getLogger(Granter.class);

  private final EpochGate gate;
  private final Peers peers;
  private final Outbox outbox;
  private final Map<UUID, Granted> granted = new ConcurrentHashMap<>();

  Granter(EpochGate gate, Peers peers, Outbox outbox) {
    this.gate = gate;
    this.peers = peers;
    this.outbox = outbox;
  }

  void add(Granted one) {
    granted.put(one.grant().id(), one);
  }

  void forget(Granted one) {
    if (granted.remove(one.grant().id(), one)) one.memory.endPeerUse();
  }

  int open() {
    return granted.size();
  }

  /** Whether the next word of a peer is waited for, and comes as a message. */
  boolean anyAwaited() {
    return granted.values().stream().anyMatch(Granted::isAwaited);
  }

  /** Whether there is anything that time or a message can still change. */
  boolean anyWatched() {
    return granted.values().stream().anyMatch(Granted::isWatched);
  }

  void takeBackAll() {
    granted.values().forEach(Granted::takeBack);
  }

  /** What has expired ends, and peers that have not answered are told again. */
  void look() {
    granted.values().forEach(Granted::look);
  }

  /** The engine was destroyed: nothing touches this process's memory any more. */
  void engineGone() {
    granted.values().forEach(Granted::declareDead);
  }

  void accept(String from, HandoverMessage message) {
    Told told;
    try {
      told = Told.parse(message.payload());
    } catch (IllegalArgumentException e) {
      LOG.warn("{} sent no descriptor with hand-over {}: {}", from, message.id(), e.getMessage());
      return;
    }
    if (!told.descriptor().name().equals(from)) return;
    peers.know(told);
    Granted one = granted.get(message.id());
    boolean good = one != null && isCurrent(message.epoch()) && one.accept(carry(from, message));
    outbox.send(from, message.answer(good ? Kind.ACCEPTED : Kind.REFUSED));
  }

  void commit(String from, HandoverMessage message) {
    boolean good = commit(message.id(), message.epoch(), carry(from, message));
    if (peers.knows(from)) outbox.send(from, message.answer(good ? Kind.CONFIRMED : Kind.CHANGED));
  }

  /** {@return whether the grant was good to the end} */
  boolean commit(UUID id, WeightEpoch epoch, Carry by) {
    Granted one = granted.get(id);
    return one != null && one.committed(by, isCurrent(epoch));
  }

  void aborted(String from, HandoverMessage message) {
    Granted one = granted.get(message.id());
    if (one == null) return;
    if (message.kind() == Kind.LOST) one.lost(carry(from, message));
    else
      one.aborted(carry(from, message));
  }

  private static Carry carry(String from, HandoverMessage message) {
    return new Carry(from, message.attempt());
  }

  private boolean isCurrent(WeightEpoch epoch) {
    return gate.state() == EpochGate.State.OPEN && epoch.equals(gate.epoch());
  }
}
