package dev.gatun.connector;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/** The latest of ids without number. Guarded by its owner. */
final class RecentIds {
  private final int most;
  private final Set<String> ids = new LinkedHashSet<>();

  RecentIds(int most) {
    this.most = most;
  }

  void add(String id) {
    ids.add(id);
    if (ids.size() <= most) return;
    Iterator<String> oldest = ids.iterator();
    oldest.next();
    oldest.remove();
  }

  boolean contains(String id) {
    return ids.contains(id);
  }
}
