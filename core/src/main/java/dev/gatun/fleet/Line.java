package dev.gatun.fleet;

/** What somebody else said, as one line of a report: without what a terminal would obey, and not longer than it may be. */
final class Line {
  private Line() {}

  static String of(String said, int charactersMax) {
    String line = said.strip().replaceAll("[\\s\\p{Cc}]+", " ").strip();
    return line.length() <= charactersMax ? line : line.substring(0, charactersMax) + "...";
  }
}
