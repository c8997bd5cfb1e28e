package dev.gatun.transfer.device;

import dev.gatun.backend.GatunException;

/** A peer on the same host that may not, or cannot, take part. */
public final class PeerRefusedException extends GatunException {
  private static final long serialVersionUID = 1L;

  /** What stands against it. */
  public enum Reason {
    /** It runs as another user: device memory is shared within one user only. */
    OTHER_USER,
    /** It is not the process that it says, or process numbers do not mean the same to both. */
    OTHER_PROCESS,
    /** It speaks something else, or another version. */
    OTHER_PROTOCOL,
    /** Its cache holds another kind of page; the message has both shapes. */
    OTHER_PAGES,
    /** The driver does not open its memory. */
    NOT_ATTACHED
  }

  /** What stands against it. */
  private final Reason reason;

  PeerRefusedException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** {@return what stands against it} */
  public Reason reason() {
    return reason;
  }
}
