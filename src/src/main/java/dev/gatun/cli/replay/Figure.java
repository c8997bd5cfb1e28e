package dev.gatun.cli.replay;

/** What a replica counts. */
enum Figure {
  /** Requests replayed. */
  REQUESTS,
  /** KV blocks of these requests. */
  BLOCKS,
  /** Pages got, whatever they turned out to be. */
  HITS,
  /** Bytes of these pages. */
  HIT_BYTES,
  /** Pages stored; with several replicas also those that another one had stored a moment before. */
  PUTS,
  /** Bytes of these pages. */
  PUT_BYTES,
  /** Pages of older weights that were served. */
  STALE_PAGES,
  /** Pages served that are of no weights, such as one made from a stale page, or torn. */
  WRONG_PAGES,
  /** Pages that their stamp gave away before they were served. */
  REJECTED_PAGES,
  /** Pages that were there when asked for and gone, or too late, when got. */
  LOST_HITS,
  /** Pages for which the store had no room. */
  REFUSED_PUTS,
  /** Pages whose get or put failed otherwise. */
  FAILURES
}
