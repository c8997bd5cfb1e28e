package dev.gatun.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gatun.backend.EpochChangedException;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GateClosedException;
import dev.gatun.backend.WeightEpoch;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** An operation enters while a refit closes, raises, drains and opens. */
public class GateRaces {
  private static final WeightEpoch OLD = new WeightEpoch("race", 0);
  private static final WeightEpoch NEW = new WeightEpoch("race", 1);

  private GateRaces() {}

  @JCStressTest
  @State
  @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "Entered first; the drained refit sees its work complete.")
  @Outcome(id = "1, -1, 0", expect = ACCEPTABLE, desc = "Entered first; the refit sees that somebody is inside.")
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Refused; the refit found nobody inside.")
  @Outcome(id = "0, -1, 0", expect = ACCEPTABLE, desc = "Refused; the refit caught it backing out.")
  @Outcome(id = "1, 0, 0", expect = FORBIDDEN, desc = "Somebody works inside after the gate was closed and found empty.")
  @Outcome(expect = FORBIDDEN, desc = "The count does not return to zero.")
  public static class EnterAndDrain {
    private final EpochGate gate = new EpochGate(OLD);
    private int work;

    @Actor
    public void operation(III_Result r) {
      try {
        int ticket = gate.enter("put");
        work = 1;
        gate.exit(ticket);
        r.r1 = 1;
      } catch (GateClosedException refused) {
        r.r1 = 0;
      }
    }

    @Actor
    public void refit(III_Result r) {
      gate.close();
      r.r2 = gate.inside() == 0 ? work : -1;
    }

    @Arbiter
    public void after(III_Result r) {
      r.r3 = (int) gate.inside();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Inside with the old epoch, read before the raise.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Entered after the opening, with the new epoch.")
  @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "Entered with the old epoch, told inside that it has changed.")
  @Outcome(id = "3, 1", expect = ACCEPTABLE, desc = "Refused while closed.")
  @Outcome(expect = FORBIDDEN, desc = "An operation ran under an epoch that it did not enter with.")
  public static class EpochInside {
    private final EpochGate gate = new EpochGate(OLD);

    @Actor
    public void operation(II_Result r) {
      try {
        int ticket = gate.enter("put");
        try {
          r.r1 = gate.epoch(ticket).equals(OLD) ? 0 : 1;
        } catch (EpochChangedException changed) {
          r.r1 = 2;
        } finally {
          gate.exit(ticket);
        }
      } catch (GateClosedException refused) {
        r.r1 = 3;
      }
    }

    @Actor
    public void refit(II_Result r) {
      gate.close();
      gate.raise(NEW);
      gate.open(EpochGate.State.OPEN);
      r.r2 = gate.ordinal();
    }
  }

  @JCStressTest
  @State
  @Outcome(id = {"0, 0",
      "1, 0"}, expect = ACCEPTABLE, desc = "Drained: whoever was inside held the old epoch to the end.")
  @Outcome(id = {"0, 1", "1, 1"}, expect = ACCEPTABLE, desc = "Not drained, and the refit knows it.")
  @Outcome(id = "2, 0", expect = FORBIDDEN, desc = "The refit found the gate empty, yet an operation saw the epoch change.")
  @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "Still inside at the raise: the operation is told.")
  @Outcome(expect = FORBIDDEN, desc = "Not foreseen.")
  public static class RaiseAfterDrain {
    private final EpochGate gate = new EpochGate(OLD);

    @Actor
    public void operation(II_Result r) {
      try {
        int ticket = gate.enter("put");
        boolean before = gate.isCurrent(ticket);
        boolean after = gate.isCurrent(ticket);
        gate.exit(ticket);
        r.r1 = before && after ? 1 : 2;
      } catch (GateClosedException refused) {
        r.r1 = 0;
      }
    }

    @Actor
    public void refit(II_Result r) {
      gate.close();
      r.r2 = gate.inside() == 0 ? 0 : 1;
      gate.raise(NEW);
    }
  }
}
