package dev.gatun.internal.backend;

import dev.gatun.backend.EngineOptions;
import dev.gatun.nativelib.NativeLog;
import dev.gatun.nativelib.NixlInstaller;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A real NIXL for tests: the installed runtime, installed if it is missing, and the test fails if it cannot be. Agents
 * use the loopback interface and no other.
 */
public final class NixlTestRuntime {
  private static final AtomicInteger AGENTS = new AtomicInteger();
  private static @Nullable NativeLog log;

  private NixlTestRuntime() {}

  /** {@return options of an agent under a name of its own} */
  public static EngineOptions options() {
    return options("test-" + ProcessHandle.current().pid() + '-' + AGENTS.incrementAndGet());
  }

  /** {@return options of an agent} */
  public static synchronized EngineOptions options(String agent) {
    if (log == null) {
      try {
        Path folder = Files.createDirectories(Path.of("target", "native-logs").toAbsolutePath());
        log = NativeLog.redirectTo(folder.resolve("nixl-" + ProcessHandle.current().pid() + ".log"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      NixlInstaller.install(System.out::println);
    }
    return EngineOptions.nixl(agent).withDevices("lo").withTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(30));
  }
}
