package dev.gatun.cli.replay;

/** Makes the master fail and mends it, for the control that ignores the removal's code. */
interface MasterSwitch {

  /** From now on every call to the master fails. */
  void fail();

  /** The master answers again, with everything it had. */
  void mend();
}
