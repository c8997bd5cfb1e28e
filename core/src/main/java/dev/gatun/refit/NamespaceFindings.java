package dev.gatun.refit;

import java.util.ArrayList;
import java.util.List;

/** What a reset of a part of a master has seen so far; whoever waits for it may stop waiting. */
final class NamespaceFindings {
  private final List<String> unproven = new ArrayList<>();
  private final List<String> unremoved = new ArrayList<>();
  private List<String> left = List.of();
  private long removed;
  private int passes;
  private long others = -1;

  synchronized void unproven(String reason) {
    unproven.add(reason);
  }

  synchronized void unremoved(String reason) {
    unremoved.add(reason);
  }

  synchronized void pass(long objects) {
    passes++;
    removed += objects;
  }

  synchronized void seen(List<String> ofScope, long ofOthers) {
    left = ofScope;
    others = ofOthers;
  }

  synchronized NamespaceReport report(KeyScope scope, int leftoversMax, long nanos) {
    List<String> reasons = new ArrayList<>(unremoved);
    reasons.addAll(unproven);
    RefitOutcome outcome = reasons.isEmpty()
        ? RefitOutcome.VERIFIED
        : scope.isolated()
            ? RefitOutcome.ISOLATED
            : unremoved.isEmpty() ? RefitOutcome.UNVERIFIED : RefitOutcome.FAILED;
    return new NamespaceReport(scope.name(), outcome, reasons, removed, passes, others,
        left.stream().limit(leftoversMax).toList(), nanos);
  }
}
