package dev.gatun.store;

import dev.gatun.backend.StoreCode;

/**
 * Whether a store answers.
 *
 * @param healthy whether the library calls itself healthy and the probe was answered
 * @param libraryFigure the library's own figure: 0 healthy, 1 not initialised, 2 master unreachable, negative on error.
 *     For a client without a segment it stays 0 whatever happens, hence the probe
 * @param probe answer to asking for a key that does not exist; {@link StoreCode#OK} when the master said so
 * @param ageNanos how old the answer is: while a probe runs, others are told the last one
 */
public record Health(boolean healthy, int libraryFigure, StoreCode probe, long ageNanos) {}
