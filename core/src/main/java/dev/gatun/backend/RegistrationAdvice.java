package dev.gatun.backend;

/** What a backend knows about registering memory before it is tried, and after it was refused. Any thread. */
public interface RegistrationAdvice {
  /** Of a backend that locks nothing: nothing to say. */
  RegistrationAdvice NONE = new RegistrationAdvice() {
    @Override
    public String refusal(long bytes) {
      return "";
    }

    @Override
    public String hint(long bytes, long code) {
      return "";
    }
  };

  /**
   * {@return why host memory of this size is certain to be refused, and what to do; empty if it is not} May block the first
   * time, while devices are looked at.
   *
   * @param bytes its size
   */
  String refusal(long bytes);

  /**
   * {@return what may be behind a refusal, and what to do; empty if nothing is known} May block as {@link #refusal}.
   *
   * @param bytes size of the memory
   * @param code what the library answered
   */
  String hint(long bytes, long code);
}
