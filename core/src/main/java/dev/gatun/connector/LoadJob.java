package dev.gatun.connector;

import java.util.List;

/**
 * A load that the scheduler side has planned.
 *
 * @param number unique in its connector
 * @param request id of the request
 * @param objects what to get, whole
 * @param from first block wanted
 * @param to end of the blocks wanted
 * @param blocks where to
 */
record LoadJob(long number, String request, List<PageObject> objects, int from, int to, BlockTable blocks) {
  LoadJob {
    objects = List.copyOf(objects);
  }
}
