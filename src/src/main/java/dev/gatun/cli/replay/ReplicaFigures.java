package dev.gatun.cli.replay;

/** What one replica did; plain counters, written by its own thread, added up when it has stopped. */
final class ReplicaFigures {
  long requests;
  long blocks;
  /** Pages got, whatever they turned out to be. */
  long hits;
  /** Pages stored, or present already where the library cannot tell. */
  long puts;
  long hitBytes;
  long putBytes;
  long stalePages;
  long wrongPages;
  /** Pages that were there when asked for and gone, or not in time, when got. */
  long lostHits;
  /** Pages that the store refused. */
  long failedPuts;
  final LatencyHistogram putTimes;
  final LatencyHistogram getTimes;
  final LatencyHistogram existsTimes;

  ReplicaFigures() {
    this(new LatencyHistogram(), new LatencyHistogram(), new LatencyHistogram());
  }

  private ReplicaFigures(LatencyHistogram putTimes, LatencyHistogram getTimes, LatencyHistogram existsTimes) {
    this.putTimes = putTimes;
    this.getTimes = getTimes;
    this.existsTimes = existsTimes;
  }
}
