package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.memory.BlockModel.Answer;
import dev.gatun.memory.BlockModel.Lease;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Random calls on a pool, each answer and each count compared with {@link BlockModel}. */
class BlockPoolModelTest {
  private static final int BLOCKS = 3;

  /** What to call, on which of the leases so far, stale ones included. */
  record Step(Call call, int lease) {}

  enum Call {
    LEASE,
    RETAIN,
    RELEASE,
    PAGE,
    REWRITE,
    RENEW,
    RESERVE_NULL,
    BEGIN_READ,
    END_READ,
    BEGIN_WRITE,
    END_WRITE_VALID,
    END_WRITE_INVALID,
    CANCEL_WRITE,
    QUARANTINE,
    END_QUARANTINE,
    REFIT
  }

  @Property(tries = 2000)
  @Label("K17.03 random leases, references, transfers, quarantines and refits agree with the reference model")
  void agrees(@ForAll("steps") List<Step> steps, @ForAll boolean poison) {
    EpochGate gate = Refits.gate();
    PoolOptions options = poison ? PoolOptions.named("model").poisoned() : PoolOptions.named("model");
    BlockPool pool = BlockPool.allocate(new PoolLayout(64, BLOCKS), gate, options);
    BlockModel model = new BlockModel(BLOCKS);
    for (Step step : steps) {
      take(step, pool, model, gate);
      assertEquals(model.free(), pool.available(), () -> "free blocks after " + step);
      for (Lease lease : model.leases)
        compare(pool, model, lease);
    }
    finish(pool, model);
    assertEquals(BLOCKS, pool.available());
    pool.close();
    assertEquals(List.of(), pool.leaked());
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    // leases three times as often as each other call, so that there is something to call on
    Arbitrary<Call> calls = Arbitraries.frequencyOf(Tuple.of(1, Arbitraries.just(Call.LEASE)),
        Tuple.of(6, Arbitraries.of(Call.class)));
    Arbitrary<Step> step = Combinators.combine(calls, Arbitraries.integers().between(0, 5)).as(Step::new);
    return step.list().ofMinSize(1).ofMaxSize(80);
  }

  private static void take(Step step, BlockPool pool, BlockModel model, EpochGate gate) {
    if (step.call == Call.LEASE) {
      long block = pool.tryLease();
      assertEquals(model.free() > 0, block != 0);
      if (block != 0) model.leases.add(new Lease(block, model.epoch));
    } else if (step.call == Call.REFIT) {
      Refits.refit(gate);
      model.epoch++;
    } else if (!model.leases.isEmpty()) {
      // recent leases: two or three live ones and a few that have ended
      Lease lease = model.leases.get(Math.max(0, model.leases.size() - 1 - step.lease));
      Answer expected = onModel(step.call, model, lease);
      assertEquals(expected, onPool(step.call, pool, lease.block), () -> step + " on block " + lease.block);
    }
  }

  private static Answer onModel(Call call, BlockModel model, Lease lease) {
    return switch (call) {
      case RETAIN -> model.retain(lease);
      case RELEASE -> model.release(lease);
      case PAGE -> model.page(lease);
      case REWRITE -> model.rewrite(lease);
      case RENEW -> model.renew(lease);
      case RESERVE_NULL -> model.reserveNull(lease);
      case BEGIN_READ -> model.beginRead(lease);
      case END_READ -> model.endRead(lease);
      case BEGIN_WRITE -> model.beginWrite(lease);
      case END_WRITE_VALID -> model.endWrite(lease, true);
      case END_WRITE_INVALID -> model.endWrite(lease, false);
      case CANCEL_WRITE -> model.cancelWrite(lease);
      case QUARANTINE -> model.quarantine(lease);
      case END_QUARANTINE -> model.endQuarantine(lease);
      case LEASE, REFIT -> throw new AssertionError(call);
    };
  }

  private static Answer onPool(Call call, BlockPool pool, long block) {
    try {
      switch (call) {
        case RETAIN -> pool.retain(block);
        case RELEASE -> pool.release(block);
        case PAGE -> pool.page(block);
        case REWRITE -> pool.rewrite(block);
        case RENEW -> pool.renew(block);
        case RESERVE_NULL -> pool.reserveNull(block);
        case BEGIN_READ -> pool.beginRead(block);
        case END_READ -> pool.endRead(block);
        case BEGIN_WRITE -> pool.beginWrite(block);
        case END_WRITE_VALID -> pool.endWrite(block, true);
        case END_WRITE_INVALID -> pool.endWrite(block, false);
        case CANCEL_WRITE -> pool.cancelWrite(block);
        case QUARANTINE -> pool.quarantine(block);
        case END_QUARANTINE -> pool.endQuarantine(block);
        case LEASE, REFIT -> throw new AssertionError(call);
      }
      return Answer.DONE;
    } catch (EpochChangedException e) {
      return Answer.EPOCH_CHANGED;
    } catch (IllegalStateException e) {
      return Answer.ILLEGAL_STATE;
    }
  }

  private static void compare(BlockPool pool, BlockModel model, Lease lease) {
    assertEquals(lease.references > 0 && lease.epoch == model.epoch, pool.isCurrent(lease.block));
    if (lease.ended) return;
    BlockStatus status = pool.outstanding().stream().filter(each -> each.block() == lease.block).findFirst()
        .orElseThrow();
    assertEquals(lease.references, status.references());
    assertEquals(lease.readers, status.readers());
    assertEquals(lease.writer, status.writing());
    assertEquals(lease.quarantinedWriter || lease.quarantinedReaders > 0, status.quarantined());
    assertEquals(lease.epoch == model.epoch, status.current());
  }

  /** Ends everything that is left, as a host would. */
  private static void finish(BlockPool pool, BlockModel model) {
    for (Lease lease : model.leases) {
      while (model.endQuarantine(lease) == Answer.DONE)
        pool.endQuarantine(lease.block);
      while (model.endRead(lease) == Answer.DONE)
        pool.endRead(lease.block);
      if (model.endWrite(lease, true) == Answer.DONE) pool.endWrite(lease.block, true);
      while (model.release(lease) == Answer.DONE)
        pool.release(lease.block);
    }
  }
}
