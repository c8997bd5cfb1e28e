package dev.gatun.cli.pd;

import dev.gatun.connector.KvRole;

/** The two processes of a run. */
enum PdSide {
  PREFILL("prefill", KvRole.PRODUCER),
  DECODE("decode", KvRole.CONSUMER);

  private final String label;
  private final KvRole role;

  PdSide(String label, KvRole role) {
    this.label = label;
    this.role = role;
  }

  KvRole role() {
    return role;
  }

  static PdSide of(String label) {
    return label.equals(PREFILL.label) ? PREFILL : DECODE;
  }

  @Override
  public String toString() {
    return label;
  }
}
