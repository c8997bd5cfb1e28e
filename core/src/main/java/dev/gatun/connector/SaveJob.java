package dev.gatun.connector;

import java.util.List;

/**
 * A save that the scheduler side has planned.
 *
 * @param number unique in its connector
 * @param request id of the request
 * @param objects what to put
 * @param blocks where from
 */
record SaveJob(long number, String request, List<PageObject> objects, BlockTable blocks) {
  SaveJob {
    objects = List.copyOf(objects);
  }

  /** Blocks in all objects. */
  int size() {
    return objects.stream().mapToInt(PageObject::blocks).sum();
  }
}
