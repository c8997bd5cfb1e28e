package dev.gatun.connector;

import java.util.List;

/**
 * The objects that make up the part of a prefix that a store has.
 *
 * @param from blocks that the host had when it asked
 * @param blocks how far the prefix reaches, those of the host included
 * @param stored leading blocks that the store has
 * @param objects in order, without gaps from {@code from} on; the first may begin before it
 * @param failure why nobody knows how it goes on; empty if it is known to end there
 */
record PrefixCover(int from, int blocks, int stored, List<PageObject> objects, String failure) {
  PrefixCover {
    objects = List.copyOf(objects);
  }

  PrefixLookup lookup() {
    return failure.isEmpty() ? new PrefixLookup.Found(blocks) : new PrefixLookup.Failed(blocks, failure);
  }

  /** Objects with a block in a range, whole. */
  List<PageObject> overlapping(int from, int to) {
    return objects.stream().filter(object -> object.first() < to && object.end() > from).toList();
  }
}
