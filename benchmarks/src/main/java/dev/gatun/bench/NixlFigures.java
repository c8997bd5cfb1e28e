package dev.gatun.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The medians of one cell of {@link NixlComparison}, in nanoseconds: for each program and way one a launch. */
final class NixlFigures {
  /** The Python program. */
  static final String PYTHON = "python ";
  /** The Python program once more: what differs from {@link #PYTHON} is the machine's mood. */
  static final String PYTHON_AGAIN = "pythonAgain ";

  private final Map<String, List<Double>> medians = new LinkedHashMap<>();

  void add(String program, double medianNanos) {
    medians.computeIfAbsent(program, key -> new ArrayList<>()).add(medianNanos);
  }

  /** {@return Java's speed in units of Python's: the geometric mean of the two Python launches beside each Java launch} */
  Interval speed(String way) {
    List<Double> ratios = new ArrayList<>();
    List<Double> java = of(NixlCell.JAVA);
    for (int i = 0; i < java.size(); i++)
      ratios.add(Math.sqrt(of(PYTHON + way).get(i) * of(PYTHON_AGAIN + way).get(i)) / java.get(i));
    return Interval.ofRatios(ratios);
  }

  /** {@return Python's speed in units of its own: what chance alone does} */
  Interval chance() {
    List<Double> ratios = new ArrayList<>();
    List<Double> once = of(PYTHON + NixlCell.PREPARED);
    for (int i = 0; i < once.size(); i++)
      ratios.add(once.get(i) / of(PYTHON_AGAIN + NixlCell.PREPARED).get(i));
    return Interval.ofRatios(ratios);
  }

  /** {@return the median over launches, in microseconds} */
  double micros(String program) {
    List<Double> sorted = of(program).stream().sorted().toList();
    return sorted.get((sorted.size() - 1) / 2) / 1e3;
  }

  void addTo(ObjectNode json) {
    json.set("speedOfJavaOverPrepared", speed(NixlCell.PREPARED).json());
    json.set("speedOfJavaOverFresh", speed(NixlCell.FRESH).json());
    json.set("speedOfPython", chance().json());
    ObjectNode nanos = json.putObject("medianNanos");
    medians.forEach((program, values) -> values.forEach(nanos.withArray(program)::add));
  }

  private List<Double> of(String program) {
    List<Double> values = medians.get(program);
    if (values == null) throw new IllegalStateException("no launch of " + program);
    return values;
  }
}
