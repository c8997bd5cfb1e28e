package dev.gatun.memory;

import dev.gatun.backend.ClosedException;
import dev.gatun.backend.Deadline;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.InUseException;
import dev.gatun.backend.MemoryRange;
import dev.gatun.backend.RegistrationAdvice;
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
  private static final StackWalker CALLER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

  private final long id = IDS.incrementAndGet();
  private final String name;
  private final String location;
  private final MemorySegment segment;
  private final SlabOrigin origin;
  private final SlabLeak leak;
  private final List<Registration> registrations = new ArrayList<>();
  private final List<String> pools = new ArrayList<>();
  private long carvedBytes;
  private boolean open = true;

  private Slab(String name, String location, SlabOrigin origin) {
    this.name = name;
    this.location = location;
    this.origin = origin;
    segment = origin.segment();
    leak = SlabLeak.watch(this, origin);
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
    return new Slab(options.name(), mapping.location(), SlabOrigin.Mapped.of(mapping, options.budget()));
  }

  /**
   * Makes a slab of memory that somebody else owns and frees. Restricted: native code will be given its address.
   *
   * <p>Checked: that the segment is native, writable, shared between threads, and alive when an address is taken. Java
   * access through the slab follows the segment's arena. Not checkable: that the owner keeps a closeable arena open
   * while a transfer runs; if not, native code touches unmapped memory and the process dies.
   *
   * @param name for reports
   * @param memory the region, whole; automatic and global arenas are held as long as the slab
   * @return an open slab; closing it frees nothing
   * @throws IllegalCallerException if the caller's module has no native access
   */
  public static Slab adopt(String name, MemorySegment memory) {
    ForeignMemory.requireNativeAccess(CALLER.getCallerClass(), "Slab.adopt");
    return new Slab(name, "adopted", new SlabOrigin.Adopted(ForeignMemory.checked("memory", memory)));
  }

  /**
   * Makes slabs of several views of memory that somebody else owns, such as the tensors of one allocation. Views that
   * overlap become one slab, since native libraries refuse to register overlapping ranges; neighbours stay apart.
   * Restricted as {@link #adopt} is.
   *
   * @param name for reports
   * @param views regions in any order; those that overlap must come from one arena
   * @return open slabs by ascending address; each view lies in one of them, see {@link #contains}
   * @throws IllegalCallerException if the caller's module has no native access
   */
  public static List<Slab> adoptViews(String name, List<MemorySegment> views) {
    ForeignMemory.requireNativeAccess(CALLER.getCallerClass(), "Slab.adoptViews");
    return ForeignMemory.merged(views).stream()
        .map(region -> new Slab(name, "adopted", new SlabOrigin.Adopted(region))).toList();
  }

  /**
   * Makes a slab of an address range that nothing in this process guards. Restricted: a wrong address, or memory freed
   * too early, ends the process at the first access.
   *
   * @param name for reports
   * @param address where it starts, not 0
   * @param bytes its size, above 0
   * @return an open slab; closing it frees nothing
   * @throws IllegalCallerException if the caller's module has no native access
   */
  public static Slab adoptAddress(String name, long address, long bytes) {
    ForeignMemory.requireNativeAccess(CALLER.getCallerClass(), "Slab.adoptAddress");
    if (address == 0) throw new IllegalArgumentException("address must not be 0");
    if (bytes <= 0 || (address > 0 && address + bytes < address)) {
      throw new IllegalArgumentException("bytes must be positive and end within the address space: " + bytes);
    }
    return new Slab(name, "adopted", new SlabOrigin.Adopted(MemorySegment.ofAddress(address).reinterpret(bytes)));
  }

  /**
   * Makes a slab of memory that Java cannot touch and native libraries can, such as a GPU's. Its segment has an address and a
   * size, and every access to it throws {@link WrongThreadException}. It is registered only with what takes such memory, which
   * is a transfer engine of NIXL. Restricted as {@link #adoptAddress} is.
   *
   * @param name for reports
   * @param address where it starts, not 0
   * @param bytes its size, above 0
   * @param owner keeps the memory until the slab is closed
   * @return an open slab; the caller closes it
   * @throws IllegalCallerException if the caller's module has no native access
   */
  public static Slab ofOwner(String name, long address, long bytes, SlabOwner owner) {
    ForeignMemory.requireNativeAccess(CALLER.getCallerClass(), "Slab.ofOwner");
    MemoryRange range = new MemoryRange(address, bytes, owner.place());
    return new Slab(name, range.location(), SlabOrigin.Owned.of(address, bytes, owner));
  }

  /** {@return whether Java can read and write it} */
  public boolean isHost() {
    return !(origin instanceof SlabOrigin.Owned);
  }

  /** {@return where it is, for native libraries: as in {@link MemoryRange#location}} */
  public String place() {
    return origin instanceof SlabOrigin.Owned owned ? owned.owner().place() : MemoryRange.ANYWHERE;
  }

  /**
   * Runs a native call that is given the slab's address, with whatever the memory needs on the call's thread. Blocks as long as
   * the call does; what it throws is thrown.
   *
   * @param call runs once
   */
  public void run(Runnable call) {
    if (origin instanceof SlabOrigin.Owned owned) owned.owner().run(call);
    else
      call.run();
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

  /**
   * {@return whether a segment lies within this slab}
   *
   * @param part any segment
   */
  public boolean contains(MemorySegment part) {
    return part.isNative() && part.address() >= segment.address()
        && part.address() - segment.address() <= byteSize() - part.byteSize();
  }

  /** {@return whether it can be used} */
  public synchronized boolean isOpen() {
    return open && segment.scope().isAlive();
  }

  /** {@return what to do if registering this slab fails for lack of lockable memory; empty if the limit is high enough} */
  public Optional<String> memlockHint() {
    long limit = MemoryCalls.get().memlockBytes();
    return limit >= byteSize()
        ? Optional.empty()
        : Optional.of("locked-memory limit is " + limit + " bytes, " + this
            + " needs " + byteSize()
            + " for each device: raise it (ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit)");
  }

  /**
   * Refuses what is certain to fail, before anything is sent. Adopted memory, which may be a GPU's, is let through. May
   * block while devices are looked at.
   *
   * @param advice of the backend that is to register the slab
   * @param registrar its name, for the message
   * @throws GatunException if it cannot be registered; the message says why and what to do
   */
  public void requireRegistrable(RegistrationAdvice advice, String registrar) {
    if (!(origin instanceof SlabOrigin.Mapped)) return;
    String refusal = advice.refusal(byteSize());
    if (!refusal.isEmpty())
      throw new GatunException("register " + this + " with " + registrar + " refused: " + refusal);
  }

  /**
   * {@return what to do about a refused registration, to be put behind other words; empty if nothing is known} May block
   * while devices are looked at.
   *
   * @param advice of the backend that refused
   * @param code what its library answered
   */
  public String registrationHint(RegistrationAdvice advice, long code) {
    String hint = advice.hint(byteSize(), code);
    return hint.isEmpty() ? memlockHint().map(limit -> "; " + limit).orElse("") : "; " + hint;
  }

  /**
   * Registers the slab with a native library. Blocks as long as that does.
   *
   * @param registrar the library's side
   * @return the registration, which must be closed before the slab
   * @throws IllegalStateException if this registrar has it already: a slab is registered once, whole
   * @throws GatunException if it does not take such memory
   * @throws ClosedException if the slab is closed
   */
  public synchronized Registration register(Registrar registrar) {
    requireOpen("register");
    if (registrationWith(registrar).isPresent()) {
      throw new IllegalStateException(this + " is already registered with " + registrar.name());
    }
    if (!isHost() && !registrar.takesDeviceMemory()) {
      throw new GatunException("register " + this + " with " + registrar.name()
          + " refused: it takes memory of the host only, and this is a device's, at " + place());
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
    return registrations.stream().filter(known -> known.isWith(registrar)).findFirst();
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
    awaitUnused(deadline);
    try {
      origin.endAccess();
    } catch (IllegalStateException e) {
      throw new InUseException("close " + this + " refused: a native call holds its segment; wait for it");
    }
    open = false;
    leak.forget();
    origin.free();
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

  private synchronized void awaitUnused(Deadline deadline) {
    boolean interrupted = false;
    List<String> users = users();
    while (!users.isEmpty() && !interrupted && !deadline.reached()) {
      try {
        wait(Math.max(1, deadline.remainingNanos() / 1_000_000));
      } catch (InterruptedException e) {
        interrupted = true;
      }
      users = users();
    }
    if (interrupted) Thread.currentThread().interrupt();
    if (!users.isEmpty()) throw new InUseException("close " + this + " refused: " + String.join(", ", users));
  }
}
