package dev.gatun.transfer.device;

import dev.gatun.transfer.device.LinkMessage.Pages;

/** A grant of a receiver, on the sender's side. */
final class Incoming {
  final SenderLink link;
  final Pages pages;
  private volatile boolean revoked;

  Incoming(SenderLink link, Pages pages) {
    this.link = link;
    this.pages = pages;
  }

  void revoke() {
    revoked = true;
  }

  boolean isRevoked() {
    return revoked;
  }
}
