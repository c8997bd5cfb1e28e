package dev.gatun.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What this process must not leave behind: temporary files, child processes, and whatever else somebody names. Whoever
 * makes one ends it as well; if the JVM is told to end before that, by SIGTERM, SIGINT, SIGHUP or an exit, a shutdown
 * hook does, the last made first. Making and remembering are one step, so no signal comes in between.
 *
 * <p>Any thread. Once the JVM is ending nothing more can be made.
 */
public final class Leftovers {
  // 5 s: a process that was killed is gone within milliseconds unless the system is in trouble; unmeasured default
  private static final long KILLED_SECONDS = 5;
  // how to undo each, guarded by the class
  private static final Map<Object, Runnable> UNDO = new LinkedHashMap<>();
  private static boolean hooked;
  private static volatile boolean ending;

  private Leftovers() {}

  /**
   * Creates a temporary file.
   *
   * @param prefix beginning of its name
   * @param suffix end of its name
   * @return the file, empty; end it by {@link #delete} or {@link #keep}
   * @throws IOException if it cannot be created
   * @throws IllegalStateException if the JVM is ending
   */
  public static synchronized Path temporaryFile(String prefix, String suffix) throws IOException {
    prepare();
    return remember(Files.createTempFile(prefix, suffix));
  }

  /**
   * Creates a temporary folder.
   *
   * @param prefix beginning of its name
   * @return the folder, empty; end it by {@link #delete} or {@link #keep}, with all that is in it
   * @throws IOException if it cannot be created
   * @throws IllegalStateException if the JVM is ending
   */
  public static synchronized Path temporaryFolder(String prefix) throws IOException {
    prepare();
    return remember(Files.createTempDirectory(prefix));
  }

  /**
   * Takes note of a file or folder that is about to be made.
   *
   * @param path where; end it by {@link #delete} or {@link #keep}
   * @return the same
   * @throws IllegalStateException if the JVM is ending
   */
  public static synchronized Path temporary(Path path) {
    prepare();
    return remember(path);
  }

  /**
   * Starts a child process. At the end of the JVM it is killed with all its children, if it lives, and waited for.
   *
   * @param builder what to start
   * @return the running process
   * @throws IOException if it cannot be started
   * @throws IllegalStateException if the JVM is ending
   */
  public static synchronized Process start(ProcessBuilder builder) throws IOException {
    prepare();
    UNDO.keySet().removeIf(made -> made instanceof Process before && !before.isAlive());
    Process process = builder.start();
    UNDO.put(process, () -> kill(process.toHandle()));
    return process;
  }

  /**
   * Has something else undone at the end of the JVM.
   *
   * @param what whose end it is; {@link #forget} takes the same
   * @param undo ends it, and does nothing if it has ended
   * @throws IllegalStateException if the JVM is ending
   */
  public static synchronized void add(Object what, Runnable undo) {
    prepare();
    UNDO.put(what, undo);
  }

  /**
   * Does not undo this any more.
   *
   * @param what given before; anything else is ignored
   */
  public static synchronized void forget(Object what) {
    UNDO.remove(what);
  }

  /**
   * Lets a temporary file or folder stay, for somebody to read.
   *
   * @param path as it was given
   */
  public static void keep(Path path) {
    forget(path);
  }

  /**
   * Deletes a file, or a folder with all that is in it.
   *
   * @param path as it was given, there or not
   * @throws IOException if something cannot be deleted; it is tried again at the end of the JVM
   */
  public static void delete(Path path) throws IOException {
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      try (Stream<Path> inside = Files.walk(path)) {
        for (Path each : inside.toList().reversed())
          Files.deleteIfExists(each);
      }
    }
    forget(path);
  }

  /** {@return whether the JVM is ending, so that what fails now fails for that reason, and nobody wants to know} */
  public static boolean ending() {
    return ending;
  }

  private static void prepare() {
    if (ending) throw tooLate();
    if (hooked) return;
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(Leftovers::undoAll, "gatun-leftovers"));
      hooked = true;
    } catch (IllegalStateException shuttingDown) {
      throw tooLate();
    }
  }

  private static IllegalStateException tooLate() {
    return new IllegalStateException("refused: the JVM is ending");
  }

  private static Path remember(Path path) {
    UNDO.put(path, () -> deleteQuietly(path));
    return path;
  }

  private static void undoAll() {
    List<Runnable> undos;
    synchronized (Leftovers.class) {
      ending = true;
      undos = new ArrayList<>(UNDO.values());
    }
    for (Runnable undo : undos.reversed())
      undoQuietly(undo);
  }

  private static void undoQuietly(Runnable undo) {
    try {
      undo.run();
    } catch (RuntimeException one) {
      System.err.println("gatun: " + one); // the others are undone all the same
    }
  }

  private static void deleteQuietly(Path path) {
    try {
      delete(path);
    } catch (IOException busy) {
      System.err.println("gatun: cannot remove " + path + ": " + busy.getMessage());
    }
  }

  private static void kill(ProcessHandle process) {
    List<ProcessHandle> all = new ArrayList<>(List.of(process));
    all.addAll(process.descendants().toList());
    all.forEach(ProcessHandle::destroyForcibly);
    CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
        .completeOnTimeout(null, KILLED_SECONDS, TimeUnit.SECONDS).join();
  }
}
