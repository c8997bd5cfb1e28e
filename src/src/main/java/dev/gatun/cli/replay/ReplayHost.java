package dev.gatun.cli.replay;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a replay runs on: the store, and replicas that are attached to it. */
interface ReplayHost extends AutoCloseable {

  /** {@return the replicas, not yet open} */
  List<? extends Replica> replicas();

  /** Called once all replicas are open. */
  void onOpened();

  /** {@return how to make the master fail; null if that is not asked for} */
  @Nullable
  MasterSwitch failingMaster();

  /** Says that nothing failed, so that logs need not be kept. */
  void succeeded();

  @Override
  void close();
}
