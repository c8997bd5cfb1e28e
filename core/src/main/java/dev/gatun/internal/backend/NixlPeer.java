package dev.gatun.internal.backend;

import dev.gatun.backend.EngineCode;
import dev.gatun.backend.EngineException;
import dev.gatun.backend.SegmentDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * One peer as an agent knows it. The library frees what it knows of a peer, and what requests in flight point to with it,
 * when it forgets the peer: so it is made to forget only while nothing is in flight. After a request has failed the
 * connection is of no use any more: it takes no other, is closed as soon as nothing is in flight, and the next request gets
 * a new one.
 */
final class NixlPeer {
  private final Link agent;
  private final int id;
  private final String name;
  private final boolean own;
  private final Predicate<String> isOtherPeer;
  private final MemorySegment nativeName;

  private volatile NixlRanges ranges = NixlRanges.NONE;
  private byte[] metadata = {}; // the rest is guarded by this
  private int inFlight;
  private boolean loaded;
  private boolean broken;
  private int connection;

  /** What a peer needs of the agent that knows it. */
  interface Link {
    /** Takes note of a peer. {@return the name that its metadata bears} */
    String load(String name, byte[] metadata);

    /** Forgets a peer and closes the connection; one that is unknown stays so. */
    void forget(String name);
  }

  /**
   * Makes a peer that nothing is known of.
   *
   * @param agent that knows it
   * @param id its segment id
   * @param name its name
   * @param own whether it is the agent itself, which the library knows from the start
   * @param isOtherPeer whether a name is that of another peer
   * @param arena of the engine
   */
  NixlPeer(Link agent, int id, String name, boolean own, Predicate<String> isOtherPeer, Arena arena) {
    this.agent = agent;
    this.id = id;
    this.name = name;
    this.own = own;
    this.isOtherPeer = isOtherPeer;
    nativeName = arena.allocateFrom(name);
  }

  int id() {
    return id;
  }

  String name() {
    return name;
  }

  /** {@return its name as a C string} */
  MemorySegment nativeName() {
    return nativeName;
  }

  /** {@return what it has registered, empty if unknown} */
  NixlRanges ranges() {
    return ranges;
  }

  /**
   * Takes note of what the peer tells of itself. What it has registered in addition is added; anything else replaces all.
   *
   * @throws EngineException if it is refused, or needs a new connection while requests are in flight
   */
  synchronized void describe(SegmentDescriptor descriptor) {
    NixlRanges told = NixlRanges.of(descriptor.ranges());
    byte[] blob = NixlMetadata.open(name, descriptor.metadata());
    if (own || (loaded && !broken && Arrays.equals(metadata, blob)) || (loaded && !broken && add(told, blob))) {
      metadata = blob;
      ranges = told;
      return;
    }
    if (inFlight > 0) {
      throw new EngineException("openSegment", EngineCode.NOT_ALLOWED, 0,
          name + ": its new description needs a new connection, and " + inFlight + " transfers have not ended");
    }
    connect(blob);
    metadata = blob;
    ranges = told;
  }

  private boolean add(NixlRanges told, byte[] blob) {
    if (!ranges.isPartOf(told)) return false;
    try {
      return agent.load(name, blob).equals(name);
    } catch (EngineException e) {
      return false; // it is another process under the old name
    }
  }

  private void connect(byte[] blob) {
    if (loaded) forget();
    String bears = load(blob);
    if (!bears.equals(name)) {
      if (!isOtherPeer.test(bears)) agent.forget(bears);
      throw new EngineException("openSegment", EngineCode.METADATA, 0, name + ": its metadata is that of " + bears);
    }
    loaded = true;
    broken = false;
  }

  private void forget() {
    agent.forget(name);
    loaded = false;
    connection++;
  }

  /** A blob that is refused half-way has left the connection behind, which would be in the way of the right one. */
  private String load(byte[] blob) {
    try {
      return agent.load(name, blob);
    } catch (EngineException e) {
      agent.forget(name);
      throw e;
    }
  }

  /**
   * Counts a use in, connecting anew where need be.
   *
   * @throws EngineException if the peer cannot be connected to, or something has failed and the connection waits for others
   *     to end before it is closed; nothing was counted
   */
  synchronized void begin() {
    if (broken && inFlight > 0) {
      throw new EngineException("submit", EngineCode.NOT_ALLOWED, 0, name
          + ": a transfer has failed, and its connection is closed first, when " + inFlight + " others have ended");
    }
    if (!own && (!loaded || broken)) connect(metadata);
    inFlight++;
  }

  /**
   * Counts a use out.
   *
   * @param failed whether it ended in an error: what the library still has under way of it ends with the connection only
   * @return the connection that it used, for {@link #isClosed}
   */
  synchronized int end(boolean failed) {
    int used = connection;
    inFlight--;
    broken |= failed && !own;
    if (broken) disconnect();
    return used;
  }

  /** {@return whether a connection is closed} To itself an agent has none: what has failed there was copied or was not. */
  synchronized boolean isClosed(int used) {
    return own || connection != used;
  }

  /** Closes the connection, unless it is in use; a later use opens it again. */
  synchronized void disconnect() {
    if (!own && loaded && inFlight == 0) forget();
  }
}
