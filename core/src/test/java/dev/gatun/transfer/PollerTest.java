package dev.gatun.transfer;

import dev.gatun.testing.Await;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PollerTest {
  /** Over when it is told so; counts the looks. */
  private static final class Looked implements Poller.Job {
    final AtomicInteger looks = new AtomicInteger();
    final AtomicBoolean ready = new AtomicBoolean();
    final AtomicBoolean over = new AtomicBoolean();

    @Override
    public boolean step() {
      looks.incrementAndGet();
      if (ready.get()) over.set(true);
      return ready.get();
    }

    @Override
    public boolean urgent() {
      return true;
    }
  }

  @Test
  @DisplayName("a job that is not over when the poller is ended is looked at until it is")
  void notOverAtTheEnd() {
    Poller poller = new Poller("test");
    Looked job = new Looked();
    poller.add(job);
    Await.until("it is looked at", () -> job.looks.get() > 0);
    poller.end();
    int looks = job.looks.get();
    // the one look that a poller owes at its end, and more
    Await.until("it is looked at again", () -> job.looks.get() > looks + 2);
    job.ready.set(true);
    Await.until("it is over", job.over::get);
  }

  @Test
  @DisplayName("a job that ends in an error takes no other with it")
  void error() {
    Poller poller = new Poller("test");
    Looked job = new Looked();
    poller.add(new Poller.Job() {
      @Override
      public boolean step() {
        throw new StackOverflowError("unexpected");
      }

      @Override
      public boolean urgent() {
        return false;
      }
    });
    poller.add(job);
    job.ready.set(true);
    Await.until("it is over", job.over::get);
    poller.end();
  }

  @Test
  @DisplayName("a job that comes after the end is looked at")
  void afterTheEnd() {
    Poller poller = new Poller("test");
    Looked first = new Looked();
    first.ready.set(true);
    poller.add(first);
    Await.until("the first is over", first.over::get);
    poller.end();
    for (int i = 0; i < 100; i++) {
      Looked late = new Looked();
      late.ready.set(true);
      poller.add(late);
      Await.until("a late one is over", late.over::get);
    }
  }
}
