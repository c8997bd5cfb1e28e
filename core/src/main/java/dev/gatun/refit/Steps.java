package dev.gatun.refit;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The log of a refit's steps. Touched by one thread at a time. */
final class Steps {
  private final List<RefitReport.Step> steps = new ArrayList<>();

  /** Runs a step and records its duration and what it says came of it. */
  void time(String name, Supplier<String> step) {
    long start = System.nanoTime();
    String detail = step.get();
    steps.add(new RefitReport.Step(name, System.nanoTime() - start, detail));
  }

  List<RefitReport.Step> list() {
    return List.copyOf(steps);
  }
}
