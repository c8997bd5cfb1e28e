package dev.gatun.cli.pd;

import dev.gatun.cli.replay.PageContent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What {@code gatun pd} is to do.
 *
 * @param engine {@code loopback} or {@code mooncake}, which push, or {@code nixl}, which pulls
 * @param pages pages to hand over, all prompts together
 * @param pageBytes bytes of a page
 * @param promptPages pages of a prompt; the last one has what is left
 * @param timeout longest hand-over
 * @param device where pages lie in device memory; empty for host memory
 */
public record PdOptions(String engine, int pages, long pageBytes, int promptPages, Duration timeout,
    Optional<PdDevice> device) {
  private static final List<String> ENGINES = List.of("loopback", "mooncake", "nixl");
  // 16 million: an hour at 16 KiB a page on a slow machine; a bound against slips of the finger
  private static final int PAGES_MAX = 16_000_000;
  private static final long PAGE_BYTES_MAX = 1L << 30;
  private static final int PROMPT_PAGES_MAX = 65_536;
  // 60 s: loading a library and opening its engine takes seconds on a busy machine; unmeasured default
  private static final Duration START_MAX = Duration.ofSeconds(60);
  // 100 MB/s: pages are computed and checked at a multiple of that; unmeasured default
  private static final long BYTES_A_MILLI = 100_000;

  /** Refuses what cannot be. */
  public PdOptions {
    if (!ENGINES.contains(engine)) {
      throw new IllegalArgumentException("--engine must be loopback, mooncake or nixl: \"" + engine + '"');
    }
    between("--pages", pages, 1, PAGES_MAX);
    between("--page-bytes", pageBytes, PageContent.BYTES_MIN, PAGE_BYTES_MAX);
    between("--prompt-pages", promptPages, 1, PROMPT_PAGES_MAX);
    between("--timeout in seconds", timeout.toSeconds(), 1, 600);
  }

  /** {@return how many prompts there are} */
  public int prompts() {
    return (pages + promptPages - 1) / promptPages;
  }

  /**
   * {@return pages of a prompt}
   *
   * @param prompt its number, from 0
   */
  public int pagesOf(int prompt) {
    return Math.min(promptPages, pages - prompt * promptPages);
  }

  /**
   * {@return how long a side may take for an answer: a hand-over, beginning and end of a process, and the bytes of a prompt}
   */
  Duration answerMax() {
    return timeout.multipliedBy(2).plus(START_MAX).plusMillis(promptPages * pageBytes / BYTES_A_MILLI);
  }

  private static void between(String field, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(field + " must be " + min + " to " + max + ": " + value);
    }
  }
}
