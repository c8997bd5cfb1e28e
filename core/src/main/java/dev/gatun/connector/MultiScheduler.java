package dev.gatun.connector;

import dev.gatun.backend.WeightEpoch;
import dev.gatun.memory.Sequence;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The deciding side of a multi connector. */
final class MultiScheduler implements SchedulerConnector {
  private static final PrefixLookup PENDING = new PrefixLookup.Pending();

  private final List<KvConnector> children;
  private final ChildCalls calls = new ChildCalls(ConnectorSide.SCHEDULER);
  /** The child that a request is to be loaded from. */
  private final Map<String, Integer> source = new HashMap<>();
  /** Lookups to which a child still owes its answer. */
  private final Map<String, Question> questions = new HashMap<>();
  /** Ended requests, and the children that have not let their blocks go. */
  private final Map<String, BitSet> awaited = new HashMap<>();

  MultiScheduler(List<KvConnector> children) {
    this.children = children;
  }

  private SchedulerConnector child(int number) {
    return children.get(number).scheduler();
  }

  /** One lookup, and what the children have answered so far; they forget an answer once they have given it. */
  private record Question(Sequence sequence, boolean current, int keys, int computedBlocks,
      List<PrefixLookup> answers) {
    Question(KvRequest request, int computedBlocks, int children) {
      this(request.sequence(), request.sequence().isCurrent(), request.keys().size(), computedBlocks,
          new ArrayList<>(Collections.nCopies(children, PENDING)));
    }

    /** Whether the answers hold: what was asked is the same, and no refit came in between. */
    boolean holds(KvRequest request, int from) {
      return sequence == request.sequence() && current == sequence.isCurrent() && keys == request.keys().size()
          && computedBlocks == from;
    }

    boolean isOpen() {
      return answers.contains(PENDING);
    }
  }

  /** Every child is asked, since each must know what it need not save; a pending one makes the request wait. */
  @Override
  public PrefixLookup lookup(KvRequest request, int computedBlocks) {
    source.remove(request.id());
    Question question = questions.remove(request.id());
    if (question == null || !question.holds(request, computedBlocks)) {
      question = new Question(request, computedBlocks, children.size());
    }
    List<PrefixLookup> answers = question.answers;
    for (int number = 0; number < answers.size(); number++) {
      if (answers.get(number).equals(PENDING)) {
        answers.set(number, answer(children.get(number), request, computedBlocks));
      }
    }
    if (question.isOpen()) {
      questions.put(request.id(), question);
      return PENDING;
    }
    PrefixLookup failed = null;
    for (int number = 0; number < answers.size(); number++) {
      PrefixLookup answer = answers.get(number);
      if (answer.blocks() > computedBlocks) {
        source.put(request.id(), number);
        return answer;
      }
      if (answer instanceof PrefixLookup.Failed && failed == null) failed = answer;
    }
    return failed == null ? new PrefixLookup.Found(computedBlocks) : failed;
  }

  /** A bad argument is the host's fault, not the child's. */
  private static PrefixLookup answer(KvConnector child, KvRequest request, int computedBlocks) {
    try {
      return child.scheduler().lookup(request, computedBlocks);
    } catch (IllegalArgumentException refused) {
      throw refused;
    } catch (RuntimeException thrown) {
      return new PrefixLookup.Failed(computedBlocks, child.name() + " threw: " + thrown.getMessage());
    }
  }

  @Override
  public void allocated(KvRequest request, BlockTable blocks, int loadBlocks) {
    Integer from = source.remove(request.id());
    for (int number = 0; number < children.size(); number++) {
      boolean loads = from == null ? number == 0 : number == from;
      child(number).allocated(request, blocks, loads ? loadBlocks : 0);
    }
  }

  @Override
  public ConnectorPlan plan(List<ScheduledRequest> step) {
    List<ConnectorPlan> plans = new ArrayList<>();
    for (KvConnector child : children)
      plans.add(calls.orElse(child.name(), EmptyPlan.INSTANCE, () -> child.scheduler().plan(step)));
    return new MultiPlan(plans);
  }

  @Override
  public RequestEnd finished(KvRequest request, BlockTable blocks, int computedBlocks) {
    source.remove(request.id());
    questions.remove(request.id());
    BitSet later = new BitSet();
    Map<String, @Nullable Object> parameters = new HashMap<>();
    for (int number = 0; number < children.size(); number++) {
      SchedulerConnector child = child(number);
      RequestEnd end = calls.orElse(children.get(number).name(), RequestEnd.NOW,
          () -> child.finished(request, blocks, computedBlocks));
      if (!end.mayFree()) later.set(number);
      end.transferParams().forEach(parameters::putIfAbsent);
    }
    if (!later.isEmpty()) awaited.put(request.id(), later);
    return new RequestEnd(later.isEmpty(), parameters);
  }

  /** A request is named once, after the last child has let go of its blocks. */
  @Override
  public List<String> update(FinishedTransfers transfers) {
    List<String> freed = new ArrayList<>();
    for (int number = 0; number < children.size(); number++) {
      SchedulerConnector child = child(number);
      FinishedTransfers own = new ChildNumber(number).select(transfers);
      for (String request : calls.orElse(children.get(number).name(), List.<String>of(), () -> child.update(own))) {
        BitSet waiting = awaited.get(request);
        if (waiting == null) continue;
        waiting.clear(number);
        if (!waiting.isEmpty()) continue;
        awaited.remove(request);
        freed.add(request);
      }
    }
    return freed;
  }

  @Override
  public ResetReport resetCache(WeightEpoch next) {
    return calls.reset(children, next, child -> child.scheduler().resetCache(next));
  }

  @Override
  public ConnectorStats stats() {
    return calls.stats(children, child -> child.scheduler().stats());
  }
}
