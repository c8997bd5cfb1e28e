package dev.gatun.memory;

import java.util.ArrayList;
import java.util.List;

/** What a pool must do, written plainly: the reference that the model test compares {@link BlockPool} with. */
final class BlockModel {
  /** How a call must end. */
  enum Answer {
    DONE,
    ILLEGAL_STATE,
    EPOCH_CHANGED
  }

  /** One lease, kept for ever, so that stale handles can be tried. */
  static final class Lease {
    final long block;
    int epoch;
    int references = 1;
    int readers;
    int quarantinedReaders;
    boolean writer;
    boolean quarantinedWriter;
    boolean invalid;
    boolean isNull;
    boolean ended;

    Lease(long block, int epoch) {
      this.block = block;
      this.epoch = epoch;
    }

    boolean transferring() {
      return readers > 0 || writer;
    }

    private void settle() {
      if (references == 0 && !transferring()) ended = true;
    }
  }

  final int blocks;
  final List<Lease> leases = new ArrayList<>();
  int epoch;

  BlockModel(int blocks) {
    this.blocks = blocks;
  }

  long free() {
    return blocks - leases.stream().filter(lease -> !lease.ended).count();
  }

  private Answer current(Lease lease) {
    if (lease.references == 0) return Answer.ILLEGAL_STATE;
    return lease.epoch == epoch ? Answer.DONE : Answer.EPOCH_CHANGED;
  }

  private Answer current(Lease lease, boolean allowed) {
    Answer answer = current(lease);
    return answer != Answer.DONE || allowed ? answer : Answer.ILLEGAL_STATE;
  }

  Answer retain(Lease lease) {
    Answer answer = current(lease);
    if (answer == Answer.DONE) lease.references++;
    return answer;
  }

  Answer release(Lease lease) {
    if (lease.references == 0) return Answer.ILLEGAL_STATE;
    lease.references--;
    lease.settle();
    return Answer.DONE;
  }

  Answer page(Lease lease) {
    return current(lease, !lease.writer && !lease.invalid);
  }

  Answer rewrite(Lease lease) {
    Answer answer = current(lease, !lease.transferring() && !lease.isNull);
    if (answer == Answer.DONE) lease.invalid = false;
    return answer;
  }

  Answer renew(Lease lease) {
    if (lease.references != 1 || lease.transferring() || lease.isNull) return Answer.ILLEGAL_STATE;
    if (lease.epoch != epoch) lease.invalid = true;
    lease.epoch = epoch;
    return Answer.DONE;
  }

  Answer reserveNull(Lease lease) {
    Answer answer = rewrite(lease);
    if (answer == Answer.DONE) lease.isNull = true;
    return answer;
  }

  Answer beginRead(Lease lease) {
    Answer answer = current(lease, !lease.writer && !lease.invalid && !lease.isNull);
    if (answer == Answer.DONE) lease.readers++;
    return answer;
  }

  Answer endRead(Lease lease) {
    if (lease.readers == lease.quarantinedReaders) return Answer.ILLEGAL_STATE;
    lease.readers--;
    lease.settle();
    return Answer.DONE;
  }

  Answer beginWrite(Lease lease) {
    Answer answer = current(lease, !lease.transferring() && !lease.isNull);
    if (answer == Answer.DONE) lease.writer = true;
    return answer;
  }

  Answer endWrite(Lease lease, boolean valid) {
    if (!lease.writer || lease.quarantinedWriter) return Answer.ILLEGAL_STATE;
    lease.writer = false;
    lease.invalid = !valid;
    lease.settle();
    return Answer.DONE;
  }

  Answer cancelWrite(Lease lease) {
    return endWrite(lease, !lease.invalid);
  }

  Answer quarantine(Lease lease) {
    if (lease.writer && !lease.quarantinedWriter) {
      lease.quarantinedWriter = true;
    } else if (lease.readers > lease.quarantinedReaders) {
      lease.quarantinedReaders++;
    } else {
      return Answer.ILLEGAL_STATE;
    }
    return Answer.DONE;
  }

  Answer endQuarantine(Lease lease) {
    if (lease.quarantinedWriter) {
      lease.quarantinedWriter = false;
      lease.writer = false;
      lease.invalid = true;
    } else if (lease.quarantinedReaders > 0) {
      lease.quarantinedReaders--;
      lease.readers--;
    } else {
      return Answer.ILLEGAL_STATE;
    }
    lease.settle();
    return Answer.DONE;
  }
}
