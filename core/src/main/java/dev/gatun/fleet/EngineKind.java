package dev.gatun.fleet;

/** Which server an engine is: it decides the paths and bodies that are sent. */
public enum EngineKind {
  /** vLLM's API server. */
  VLLM,
  /** SGLang's HTTP server. */
  SGLANG
}
