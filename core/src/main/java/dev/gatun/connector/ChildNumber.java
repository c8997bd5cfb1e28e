package dev.gatun.connector;

import dev.gatun.connector.FinishedTransfers.Load;
import dev.gatun.connector.FinishedTransfers.Save;
import java.util.List;

/**
 * The number of a child, put before the connector's name in what its worker side reports, so that the scheduler side can
 * tell children of one name apart.
 *
 * @param number place of the child
 */
record ChildNumber(int number) {
  private static final char SEPARATOR = ':';

  FinishedTransfers mark(FinishedTransfers transfers) {
    List<Load> loads = transfers.loads().stream().map(
        load -> new Load(marked(load.connector()), load.request(), load.job(), load.missing(), load.reason())).toList();
    List<Save> saves = transfers.saves().stream().map(
        save -> new Save(marked(save.connector()), save.request(), save.job(), save.failedBlocks(), save.reason()))
        .toList();
    return new FinishedTransfers(loads, saves);
  }

  /** {@return what this child reported, as it reported it} */
  FinishedTransfers select(FinishedTransfers transfers) {
    List<Load> loads = transfers.loads().stream().filter(load -> isMarked(load.connector())).map(
        load -> new Load(bare(load.connector()), load.request(), load.job(), load.missing(), load.reason())).toList();
    List<Save> saves = transfers.saves().stream().filter(save -> isMarked(save.connector())).map(
        save -> new Save(bare(save.connector()), save.request(), save.job(), save.failedBlocks(), save.reason()))
        .toList();
    return new FinishedTransfers(loads, saves);
  }

  private String mark() {
    return Integer.toString(number) + SEPARATOR;
  }

  private String marked(String connector) {
    return mark() + connector;
  }

  private boolean isMarked(String connector) {
    return connector.startsWith(mark());
  }

  private String bare(String connector) {
    return connector.substring(mark().length());
  }
}
