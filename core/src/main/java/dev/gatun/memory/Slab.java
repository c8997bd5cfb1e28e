package dev.gatun.memory;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.InUseException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One contiguous off-heap region, allocated once and registered once with each native library. Its segment may be used
 * by any thread; Java access after close throws, it never faults. Usable by any thread.
 *
 * <p>Close order: transfers, then registrations and pools, then the slab. Each step refuses while the one before is open.
 */
public final class Slab implements AutoCloseable {
  private static final AtomicLong IDS = new AtomicLong();

  private final long id = IDS.incrementAndGet();
  private final String name;
  private final String location;
  private final MemorySegment segment;
  private final SlabOrigin origin;
  private final List<Registration> registrations = new ArrayList<>();
  private final List<String> pools = new ArrayList<>();
  private long carvedBytes;
  private boolean open = true;

  Slab(String name, String location, MemorySegment segment, SlabOrigin origin) {
    this.name = name;
    this.location = location;
    this.segment = segment;
    this.origin = origin;
  }

  /**
   * Maps host memory. Blocks while pages are touched, if that was asked for.
   *
   * @param options size, pages, node, budget
   * @return an open slab of zeros, at least as large as asked; the caller closes it
   * @throws MemoryBudgetException if the budget does not allow it
   * @throws SlabException if the system refuses; the message says why and what to do
   */
  public static Slab allocate(SlabOptions options) {
    long bytes = SlabMapping.roundedBytes(options);
    options.budget().reserve(bytes);
    SlabMapping mapping;
    try {
      mapping = SlabMapping.create(options);
    } catch (RuntimeException | Error e) {
      options.budget().giveBack(bytes);
      throw e;
    }
    SlabOrigin origin = new SlabOrigin.Mapped(mapping, options.budget(), Arena.ofShared()); // slab
    return new Slab(options.name(), mapping.location(), origin.segment(), origin);
  }

  /** {@return the whole region} */
  public MemorySegment segment() {
    return segment;
  }

  /** {@return its size in bytes} */
  public long byteSize() {
    return segment.byteSize();
  }

  /** {@return a number unique in this process} */
  public long id() {
    return id;
  }

  /** {@return the name given at allocation} */
  public String name() {
    return name;
  }

  /** {@return where the memory is and which pages were obtained, in words} */
  public String location() {
    return location;
  }

  /** {@return whether it can be used} */
  public synchronized boolean isOpen() {
    return open && segment.scope().isAlive();
  }

  /** {@return what to do if registering this slab fails for lack of lockable memory; empty if the limit is high enough} */
  public Optional<String> memlockHint() {
    long limit = Libc.memlockBytes();
    return limit >= byteSize()
        ? Optional.empty()
        : Optional.of("locked-memory limit is " + limit + " bytes, " + this
            + " needs " + byteSize()
            + " for each device: raise it (ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit)");
  }

  /**
   * Registers the slab with a native library. Blocks as long as that does.
   *
   * @param registrar the library's side
   * @return the registration, which must be closed before the slab
   * @throws IllegalStateException if this registrar has it already: a slab is registered once, whole
   * @throws ClosedException if the slab is closed
   */
  public synchronized Registration register(Registrar registrar) {
    requireOpen("register");
    for (Registration known : registrations) {
      if (known.registrar() == registrar) {
        throw new IllegalStateException(this + " is already registered with " + registrar.name());
      }
    }
    registrar.register(this);
    Registration registration = new Registration(this, registrar);
    registrations.add(registration);
    return registration;
  }

  /** {@return the open registrations} */
  public synchronized List<Registration> registrations() {
    return List.copyOf(registrations);
  }

  /**
   * {@return this registrar's registration}
   *
   * @param registrar who may have registered the slab
   */
  public synchronized Optional<Registration> registrationWith(Registrar registrar) {
    return registrations.stream().filter(known -> known.registrar() == registrar).findFirst();
  }

  /**
   * Frees the memory, if nothing uses it. Idempotent.
   *
   * @throws InUseException if it is registered, a pool lies on it, or a call holds its segment; nothing was freed
   */
  @Override
  public void close() {
    close(Deadline.after(Duration.ZERO));
  }

  /**
   * Waits until nothing uses the memory, then frees it. Blocks. Idempotent.
   *
   * @param deadline when to give up
   * @throws InUseException if something still uses it at the deadline; nothing was freed
   */
  public synchronized void close(Deadline deadline) {
    if (!open) return;
    while (!users().isEmpty()) {
      if (deadline.reached()) throw new InUseException("close " + this + " refused: " + String.join(", ", users()));
      awaitChange(deadline);
    }
    try {
      origin.free();
    } catch (IllegalStateException e) {
      throw new InUseException("close " + this + " refused: a native call holds its segment; wait for it");
    }
    open = false;
  }

  @Override
  public String toString() {
    return "slab " + id + " (" + name + ", " + byteSize() + " bytes)";
  }

  /** Gives the next part of the slab to a pool. */
  synchronized MemorySegment carve(long bytes, String pool) {
    requireOpen("pool " + pool + " over it");
    long left = byteSize() - carvedBytes;
    if (bytes > left) {
      throw new IllegalArgumentException("pool " + pool + " needs " + bytes + " bytes, " + this + " has " + left
          + " left beside " + pools);
    }
    MemorySegment part = segment.asSlice(carvedBytes, bytes);
    carvedBytes += bytes;
    pools.add(pool);
    return part;
  }

  /** Takes a pool's part back; parts are given out anew when all pools are gone. */
  synchronized void giveBack(String pool) {
    pools.remove(pool);
    if (pools.isEmpty()) carvedBytes = 0;
    notifyAll();
  }

  synchronized void forget(Registration registration) {
    registrations.remove(registration);
    notifyAll();
  }

  private List<String> users() {
    List<String> users = new ArrayList<>();
    for (Registration registration : registrations)
      users.add("registered with " + registration.registrar().name());
    for (String pool : pools)
      users.add("pool " + pool + " is open");
    return users;
  }

  private void requireOpen(String what) {
    if (!open) throw new ClosedException(what + " refused: " + this + " is closed");
    if (!segment.scope().isAlive())
      throw new ClosedException(what + " refused: the owner of " + this + " has closed its arena");
  }

  private void awaitChange(Deadline deadline) {
    try {
      wait(Math.max(1, deadline.remainingNanos() / 1_000_000));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InUseException("close " + this + " interrupted: " + String.join(", ", users()));
    }
  }
}
