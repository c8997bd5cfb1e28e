package dev.gatun.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gatun.backend.Deadline;
import dev.gatun.backend.DeadlineException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pages of known content in an engine's paged cache, made and checked by kernels: every byte is looked at, and none leaves the
 * GPU. For tests, replays and checks after a hand-over, not for serving. Made once, used many times: clear, add, then fill or
 * check, await, ask.
 *
 * <p>A page is 64-bit words in the order of its fragments: {@value #HEADER_WORDS} of a header, given for each page, and then
 * words that {@link #word} makes of the header's first and their place. So a page shows which one it is, and words of another
 * page, or of another place, differ.
 *
 * <p>One thread at a time.
 */
public final class KnownPages extends DeviceResource {
  /** Words of a header. */
  public static final int HEADER_WORDS = 4;

  private static final int PATTERN_WORDS = 512; // and GOLDEN: as in native/kernels/known.cu
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final int FOUND_WORDS = HEADER_WORDS + 1;
  private static final int THREADS = 256;
  private static final int BLOCKS_A_MULTIPROCESSOR = 8; // all that fit; unmeasured default

  private final long module;
  private final long fill;
  private final long check;
  private final DeviceStream stream;
  private final PagedKvLayout layout;
  private final KernelArguments arguments = new KernelArguments();
  private @Nullable Columns columns;
  private int size;
  private boolean checked;

  private record Columns(FragmentTable table, UploadColumn headers, ResultColumn found, WorkDone done) {}

  private KnownPages(DeviceStream stream, PagedKvLayout layout, long module) {
    super(stream.device(), "known pages");
    this.stream = stream;
    this.layout = layout;
    this.module = module;
    fill = device().driver().function(module, "gatun_known_fill");
    check = device().driver().function(module, "gatun_known_check");
  }

  /**
   * Loads the kernels. Blocks while the driver translates them.
   *
   * @param stream of {@link Device#newStream}, where they are queued; held open
   * @param layout of the cache; fragments of a multiple of 8 bytes, 8-byte aligned
   * @param cache the memory it lies in; held open
   * @param capacity most pages at a time, above 0
   * @return with no pages; the caller closes it
   * @throws IllegalArgumentException if fragments are no whole words, a page is smaller than a header, the layout does not
   *     lie in the cache, or the pages would have more than 2,147,483,647 fragments
   * @throws DeviceException if there is not enough device memory, or the driver is too old for the kernels
   */
  public static KnownPages open(DeviceStream stream, PagedKvLayout layout, List<DeviceSlab> cache, int capacity) {
    stream.requireOurs();
    if (layout.fragmentBytes() % Long.BYTES != 0 || layout.valueBytes() < HEADER_WORDS * Long.BYTES) {
      throw new IllegalArgumentException("layout must have fragments of a multiple of 8 bytes, 32 or more in all: "
          + layout);
    }
    int fragments = FragmentTable.fragments(layout, capacity);
    KnownPages pages = Ptx.load(stream.device(), "known.ptx", module -> new KnownPages(stream, layout, module));
    try {
      stream.hold(pages);
      pages.take(cache, capacity, fragments);
      return pages;
    } catch (RuntimeException | Error e) {
      pages.close();
      throw e;
    }
  }

  private void take(List<DeviceSlab> cache, int capacity, int fragments) {
    FragmentTable table = FragmentTable.allocate("known", stream, cache, layout.fragmentBytes(), fragments);
    UploadColumn headers = null;
    ResultColumn found = null;
    try {
      table.requireHolds(layout);
      headers = UploadColumn.allocate(device(), "headers", (long) capacity * HEADER_WORDS * Long.BYTES);
      found = ResultColumn.allocate(device(), "found", (long) capacity * FOUND_WORDS * Long.BYTES);
      columns = new Columns(table, headers, found, new WorkDone(device().newEvent("known done")));
    } catch (RuntimeException | Error e) {
      if (found != null) found.close();
      if (headers != null) headers.close();
      table.close();
      throw e;
    }
  }

  /**
   * {@return a word of a page}
   *
   * @param first first word of the page's header
   * @param index of the word, {@link #HEADER_WORDS} or more
   */
  public static long word(long first, long index) {
    long inRun = (index - HEADER_WORDS) % PATTERN_WORDS;
    return mix((inRun + 1) * GOLDEN) + first + (index - inRun) * GOLDEN;
  }

  /** The finishing step of SplitMix64. */
  private static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /**
   * Empties the list. Blocks until what was queued last is done.
   *
   * @param deadline when to give up
   * @return this
   * @throws DeadlineException if it is not by then
   */
  public KnownPages clear(Deadline deadline) {
    Columns taken = taken();
    taken.done().await(deadline);
    taken.headers().uploaded().await(deadline); // a launch that was refused has recorded no end
    taken.table().clear(deadline);
    size = 0;
    checked = false;
    return this;
  }

  /**
   * Adds a page.
   *
   * @param block of the cache, not its null block
   * @param first first word of its header, of which all words behind it are made
   * @param second second word
   * @param third third word
   * @param fourth fourth word
   * @return this
   * @throws IllegalStateException if the list is full
   * @throws IllegalArgumentException if it is the null block, the cache does not hold the layout, or a fragment is not 8-byte
   *     aligned
   * @throws IndexOutOfBoundsException if the cache has no such block
   */
  public KnownPages add(int block, long first, long second, long third, long fourth) {
    Columns taken = taken();
    taken.table().addBlock(layout, block);
    if (taken.table().addressBits() % Long.BYTES != 0) {
      throw new IllegalArgumentException("layout must have fragments that are 8-byte aligned: " + layout);
    }
    long at = (long) size * HEADER_WORDS;
    taken.headers().host().setAtIndex(JAVA_LONG, at, first);
    taken.headers().host().setAtIndex(JAVA_LONG, at + 1, second);
    taken.headers().host().setAtIndex(JAVA_LONG, at + 2, third);
    taken.headers().host().setAtIndex(JAVA_LONG, at + 3, fourth);
    size++;
    checked = false;
    return this;
  }

  /** {@return pages added} */
  public int size() {
    return size;
  }

  /**
   * Queues: makes all pages.
   *
   * @param after what must be done before their blocks are written
   * @return this
   */
  public KnownPages fill(Completion after) {
    queue(fill, after);
    checked = false;
    return this;
  }

  /**
   * Queues: compares all pages.
   *
   * @param after what brings them there
   * @return this
   */
  public KnownPages check(Completion after) {
    queue(check, after);
    checked = true;
    return this;
  }

  private void queue(long kernel, Completion after) {
    Columns taken = taken();
    enter();
    try {
      stream.waitFor(after);
      if (size > 0) {
        taken.table().upload();
        taken.headers().upload(stream, 0, (long) size * HEADER_WORDS * Long.BYTES);
        if (kernel == fill) launch(fill, taken);
        else
          compare(taken);
      }
      stream.record(taken.done().event());
    } finally {
      exit();
    }
  }

  private void compare(Columns taken) {
    long bytes = (long) size * FOUND_WORDS * Long.BYTES;
    taken.found().clear(stream, bytes);
    launch(check, taken);
    taken.found().download(stream, bytes);
  }

  private void launch(long kernel, Columns taken) {
    long words = size * (layout.valueBytes() / Long.BYTES);
    int blocks = Math.clamp(Math.ceilDiv(words, THREADS), 1,
        device().info().multiprocessors() * BLOCKS_A_MULTIPROCESSOR);
    long parameters = arguments.set(taken.table().entryAddress(0), taken.headers().deviceAddress(), layout.fragments(),
        size, layout.fragmentBytes(), taken.found().deviceAddress());
    stream.admit(1);
    device().bind();
    try {
      device().driver().launch(kernel, blocks, THREADS, stream.handle(), parameters);
    } finally {
      device().unbind();
    }
  }

  /** {@return done once what was queued last is} */
  public Completion done() {
    return taken().done();
  }

  /**
   * Waits for what was queued last. Blocks.
   *
   * @param deadline when to give up
   * @return this
   * @throws DeadlineException if it is not done by then; it goes on
   * @throws DeviceException if the GPU failed
   */
  public KnownPages await(Deadline deadline) {
    taken().done().await(deadline);
    return this;
  }

  /**
   * {@return whether every word of a page was as it must be} Of the last check that was awaited.
   *
   * @param index of the page, in the order of adding
   * @throws IllegalStateException if nothing was checked since
   */
  public boolean isRight(int index) {
    return found(index, 0) == 0;
  }

  /**
   * {@return a word of the header that is in the cache} Of the last check that was awaited.
   *
   * @param index of the page, in the order of adding
   * @param word 0 to 3
   */
  public long foundHeader(int index, int word) {
    if (word < 0 || word >= HEADER_WORDS) throw new IndexOutOfBoundsException("word must be 0 to 3: " + word);
    return found(index, 1 + word);
  }

  private long found(int index, int word) {
    if (index < 0 || index >= size) {
      throw new IndexOutOfBoundsException("index must be 0 to " + (size - 1) + ": " + index);
    }
    if (!checked)
      throw new IllegalStateException("nothing was checked since pages were added or filled: call check first");
    return taken().found().host().getAtIndex(JAVA_LONG, (long) index * FOUND_WORDS + word);
  }

  private Columns taken() {
    requireOpen();
    Columns taken = columns;
    if (taken == null) throw new IllegalStateException(this + " has not been opened");
    return taken;
  }

  @Override
  void awaitWork(Deadline deadline) {
    stream.awaitQueued(deadline, this);
  }

  @Override
  void destroy() {
    Columns taken = columns;
    if (taken != null) {
      taken.done().event().close();
      taken.found().close();
      taken.headers().close();
      taken.table().close();
    }
    device().bind();
    try {
      device().driver().unloadModule(module);
    } finally {
      device().unbind();
    }
    arguments.close();
    stream.letGo(this);
  }
}
