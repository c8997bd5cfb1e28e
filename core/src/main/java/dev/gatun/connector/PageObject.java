package dev.gatun.connector;

import dev.gatun.store.KvKey;

/**
 * One object of a store that holds consecutive blocks of a request.
 *
 * @param key its key
 * @param first place of its first block in the request
 * @param blocks how many; more than one is a page group
 */
record PageObject(KvKey key, int first, int blocks) {
  int end() {
    return first + blocks;
  }

  boolean isGroup() {
    return blocks > 1;
  }
}
