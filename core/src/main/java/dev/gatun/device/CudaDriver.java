package dev.gatun.device;

/**
 * The calls of the CUDA driver that this package makes, for those who implement them. Handles and addresses are what the
 * driver gave out; nothing here checks them, so this is not for use by applications: {@link Device} and what it opens are.
 *
 * <p>Any thread may call anything. Methods below the line "with a context bound" need {@link #pushContext} before. Every
 * method but the queries throws {@link DeviceException} if the driver answers with an error; copies, fills and launches
 * only queue their work, so an error of theirs may surface in a later call. None blocks for that work, and those that
 * queue or query allocate no Java objects.
 */
public interface CudaDriver {

  /** {@return the name that selects it, such as {@code ffm}} */
  String name();

  /** {@return what the driver speaks, such as {@code CUDA 13.0}} */
  String version();

  /** {@return how many GPUs this process sees} */
  int deviceCount();

  /**
   * {@return what a GPU is}
   *
   * @param ordinal its number
   */
  DeviceInfo describe(int ordinal);

  /**
   * {@return the context that the whole process shares on a GPU; give it back with {@link #releaseContext}}
   *
   * @param ordinal the GPU's number
   */
  long retainContext(int ordinal);

  /**
   * Gives the shared context back; the last one ends it.
   *
   * @param ordinal the GPU's number
   */
  void releaseContext(int ordinal);

  /** {@return the context bound to the calling thread, 0 if none} */
  long currentContext();

  /**
   * Binds a context to the calling thread, above what is bound. No blocking Java between this and {@link #popContext}: a
   * virtual thread would go on elsewhere and leave the context behind.
   *
   * @param context from {@link #retainContext}
   */
  void pushContext(long context);

  /** Binds what was bound before the last {@link #pushContext}. */
  void popContext();

  // ---- with a context bound ----

  /** {@return free bytes of its GPU} */
  long freeBytes();

  /**
   * {@return the address of new device memory}
   *
   * @param bytes its size
   */
  long allocate(long bytes);

  /**
   * Frees device memory.
   *
   * @param address from {@link #allocate}
   */
  void free(long address);

  /**
   * Pins host memory in place, for every GPU, and for kernels.
   *
   * @param address of whole pages
   * @param bytes its size
   */
  void pin(long address, long bytes);

  /**
   * Undoes {@link #pin}.
   *
   * @param address what was pinned
   */
  void unpin(long address);

  /**
   * {@return whether an address is device memory of a GPU} False too for one that the driver does not know.
   *
   * @param address any address
   * @param ordinal the GPU's number
   */
  boolean isDeviceMemory(long address, int ordinal);

  /**
   * {@return bytes from an address to the end of the allocation that holds it}
   *
   * @param address within what {@link #allocate} gave or {@link #importMemory} answered
   */
  long bytesFrom(long address);

  /**
   * {@return what another process needs to reach the allocation that holds an address} It stays allocated until nobody has
   * it open.
   *
   * @param address within what {@link #allocate} gave
   */
  ExportedMemory exportMemory(long address);

  /**
   * {@return where an allocation of another process lies for this one} Opening one again answers the same and counts.
   *
   * @param handle from {@link #exportMemory} of a living process
   */
  long importMemory(String handle);

  /**
   * Undoes one {@link #importMemory}.
   *
   * @param base what it answered
   */
  void closeImported(long base);

  /**
   * Queues a copy from pinned host memory to the device.
   *
   * @param target device address
   * @param source host address
   * @param bytes size
   * @param stream where to queue it
   */
  void copyToDevice(long target, long source, long bytes, long stream);

  /**
   * Queues a copy from the device to pinned host memory.
   *
   * @param target host address
   * @param source device address
   * @param bytes size
   * @param stream where to queue it
   */
  void copyToHost(long target, long source, long bytes, long stream);

  /**
   * Queues a copy within the device.
   *
   * @param target device address
   * @param source device address
   * @param bytes size
   * @param stream where to queue it
   */
  void copyOnDevice(long target, long source, long bytes, long stream);

  /** {@return whether {@link #copyBatch} works} */
  boolean copiesBatches();

  /**
   * Queues many copies by one call, between pinned host memory and the device or within the device.
   *
   * @param targets address of an array of addresses
   * @param sources the same, of sources
   * @param sizes address of an array of sizes in bytes
   * @param count entries of each
   * @param stream where to queue them
   * @throws UnsupportedOperationException unless {@link #copiesBatches}
   */
  void copyBatch(long targets, long sources, long sizes, long count, long stream);

  /**
   * Queues filling device memory.
   *
   * @param address device address
   * @param value for every byte
   * @param bytes size
   * @param stream where to queue it
   */
  void fill(long address, byte value, long bytes, long stream);

  /**
   * {@return a new stream, in no order against any other}
   *
   * @param priority of its kernels
   */
  long createStream(StreamPriority priority);

  /**
   * Destroys a stream; its work goes on to the end.
   *
   * @param stream from {@link #createStream}
   */
  void destroyStream(long stream);

  /**
   * {@return whether everything queued is done}
   *
   * @param stream any stream
   */
  boolean isIdle(long stream);

  /**
   * Queues a wait of a stream, not of the thread, for what the event recorded last.
   *
   * @param stream what waits
   * @param event what it waits for; nothing if it recorded nothing
   */
  void waitFor(long stream, long event);

  /**
   * {@return a new event}
   *
   * @param timed whether it takes the time, which costs a little
   */
  long createEvent(boolean timed);

  /**
   * Destroys an event; streams that wait for it go on waiting for what it recorded.
   *
   * @param event from {@link #createEvent}
   */
  void destroyEvent(long event);

  /**
   * Queues the event: it is done once all that was queued before it is.
   *
   * @param event what records
   * @param stream where
   */
  void record(long event, long stream);

  /**
   * {@return whether what the event recorded last is done} True if it recorded nothing.
   *
   * @param event any event
   */
  boolean isDone(long event);

  /**
   * {@return milliseconds on the GPU from one timed event to another, both done}
   *
   * @param first the earlier
   * @param last the later
   */
  float elapsedMillis(long first, long last);

  /**
   * {@return a loaded module}
   *
   * @param ptx the text of its kernels
   */
  long loadModule(String ptx);

  /**
   * Unloads a module. None of its kernels may run.
   *
   * @param module from {@link #loadModule}
   */
  void unloadModule(long module);

  /**
   * {@return a kernel}
   *
   * @param module where it is
   * @param name of the kernel
   */
  long function(long module, String name);

  /**
   * Queues a kernel on a one-dimensional grid.
   *
   * @param function the kernel
   * @param blocks of the grid
   * @param threads in each block
   * @param stream where to queue it
   * @param parameters address of an array of addresses, one a kernel parameter; read before this returns
   */
  void launch(long function, int blocks, int threads, long stream, long parameters);
}
