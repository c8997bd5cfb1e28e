package dev.gatun.cli.pd;

import java.util.Map;

/** One side of a run, as {@link PdServer} drives it. One thread. */
interface PdWorker extends AutoCloseable {
  /** {@return who this is, for the router's part} */
  Map<String, Object> identity();

  /** Computes a prompt and offers it. {@return what decode needs, if there is anything to say} */
  Map<String, Object> prefill(PromptPages prompt, String transferId);

  /** Takes a prompt over, looks at every byte, and lets it go again. {@return how that went} */
  Map<String, Object> decode(PromptPages prompt, Map<String, Object> params);

  /** {@return how many blocks there are, and how many nobody holds} */
  Map<String, Object> blocks();

  /** Raises the epoch, as after a refit of the other side. */
  void refit(long version);

  @Override
  void close();
}
