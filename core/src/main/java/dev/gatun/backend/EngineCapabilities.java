package dev.gatun.backend;

/**
 * What an open engine can do.
 *
 * @param localRegistration whether local memory must be registered natively; where not, Gatun asks for it all the same
 * @param push whether it writes into a peer's memory
 * @param pull whether it reads from a peer's memory
 * @param notifications whether messages reach a peer
 * @param batchMax most requests of one flight
 * @param inFlightMax most requests that it takes at once to one segment without failing some
 * @param notificationBytesMax longest message, in bytes
 * @param crossProcess whether peers in other processes can be reached
 * @param failuresSettle whether a request that failed is known to touch the peer's memory no more; where not, what lay in
 *     the peer's socket when the library gave up, say while the peer was frozen, may still land when it goes on
 */
public record EngineCapabilities(boolean localRegistration, boolean push, boolean pull, boolean notifications,
    int batchMax, int inFlightMax, int notificationBytesMax, boolean crossProcess, boolean failuresSettle) {}
