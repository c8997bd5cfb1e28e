package dev.gatun.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.WeightEpoch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SequenceTest {
  private final EpochGate gate = Refits.gate();
  private final BlockPool pool = BlockPool.allocate(new PoolLayout(64, 4), gate);

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  @DisplayName("a sequence that goes on across a refit can save nothing more, new blocks included")
  void refused() {
    Sequence sequence = Sequence.open(gate);
    long before = sequence.lease(pool);
    sequence.requireCurrent();
    pool.beginRead(before);
    pool.endRead(before);
    Refits.refit(gate);
    assertFalse(sequence.isCurrent());
    assertEquals(new WeightEpoch("test", 0), sequence.epoch());
    String message = assertThrows(EpochChangedException.class, sequence::requireCurrent).toString();
    assertTrue(message.contains("test@0") && message.contains("test@1"), message);
    assertThrows(EpochChangedException.class, () -> pool.beginRead(before));
    assertThrows(EpochChangedException.class, () -> sequence.lease(pool));
    assertEquals(3, pool.available());
    Sequence.open(gate).requireCurrent();
  }

  @Test
  @DisplayName("a block leased for an old epoch is refused by every save, even when leased after the refit")
  void newBlockOfOldEpoch() {
    Refits.refit(gate);
    long block = pool.leaseFor(gate.ordinal() - 1);
    assertThrows(EpochChangedException.class, () -> pool.beginRead(block));
    assertThrows(EpochChangedException.class, () -> pool.page(block));
    pool.release(block);
  }

  @Test
  @DisplayName("a sequence carries the lowest epoch among the sequences it uses")
  void lowestOfSequences() {
    Sequence old = Sequence.open(gate);
    Refits.refit(gate);
    Sequence fork = Sequence.open(gate);
    Sequence other = Sequence.open(gate);
    fork.uses(other);
    fork.requireCurrent();
    fork.uses(old);
    assertFalse(fork.isCurrent());
    assertEquals(new WeightEpoch("test", 0), fork.epoch());
    assertTrue(other.isCurrent());
    assertThrows(EpochChangedException.class, () -> fork.lease(pool));
    assertThrows(IllegalArgumentException.class, () -> other.uses(Sequence.open(Refits.gate())));
  }

  @Test
  @DisplayName("a sequence that uses a block from before a refit is as old as that block")
  void lowestOfBlocks() {
    long block = pool.lease();
    Sequence sequence = Sequence.open(gate);
    sequence.uses(pool, block);
    sequence.requireCurrent();
    Refits.refit(gate);
    Sequence next = Sequence.open(gate);
    next.uses(pool, block);
    assertThrows(EpochChangedException.class, next::requireCurrent);
    pool.release(block);
  }

  @Test
  @DisplayName("a pool of another gate is refused: its blocks would pass for ones of an epoch still to come there")
  void poolOfAnotherGate() {
    EpochGate ahead = Refits.gate();
    Refits.refit(ahead);
    Sequence sequence = Sequence.open(ahead);
    assertThrows(IllegalArgumentException.class, () -> sequence.lease(pool));
    long block = pool.lease();
    assertThrows(IllegalArgumentException.class, () -> sequence.uses(pool, block));
    pool.release(block);
    assertEquals(4, pool.available());
  }
}
