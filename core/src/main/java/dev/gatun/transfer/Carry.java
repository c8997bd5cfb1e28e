package dev.gatun.transfer;

import java.util.UUID;

/**
 * One attempt of a peer to carry out a grant.
 *
 * @param peer segment name
 * @param attempt unique in the world
 */
record Carry(String peer, UUID attempt) {}
