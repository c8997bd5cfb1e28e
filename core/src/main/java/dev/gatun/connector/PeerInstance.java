package dev.gatun.connector;

import java.net.InetSocketAddress;
import java.util.UUID;

/**
 * A peer's worker side, told apart from any that comes after it on the same port.
 *
 * @param address to which it was connected, resolved
 * @param id what it called itself
 */
record PeerInstance(InetSocketAddress address, UUID id) {}
