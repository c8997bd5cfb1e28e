package dev.gatun.refit;

import java.util.List;

/** One bracket of a refit: who has it may be loading weights. Guarded by the group. */
final class Holder {
  private final List<Member> members;
  private boolean wantsOpen;
  private boolean closed;

  Holder(List<Member> members) {
    this.members = members;
  }

  /** The replicas that the bracket opens. */
  List<Member> members() {
    return members;
  }

  boolean wantsOpen() {
    return wantsOpen;
  }

  void wantOpen() {
    wantsOpen = true;
  }

  boolean closed() {
    return closed;
  }

  void close() {
    closed = true;
  }
}
