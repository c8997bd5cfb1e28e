package dev.gatun.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gatun.internal.backend.LoopbackControls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Proves that the contract notices known wrong behaviours: with each mutant of the embedded store switched on, the case
 * that docs/loopback-mutants.md names for it fails. Mutants of the embedded engine are for the engine's tests.
 */
class MutantTest {
  // a case of the embedded store takes well under a second; one that waits for what a mutant never does has noticed it
  private static final int CASE_SECONDS_MAX = 10;
  private static final Path PAGE = Path.of(System.getProperty("gatun.root"), "docs", "loopback-mutants.md");

  @AfterEach
  void reset() {
    LoopbackControls.reset();
  }

  // a read that a busy machine holds beyond its lease is refused, and then the case has nothing to notice
  private static final int ATTEMPTS = 3;

  private static List<Integer> storeMutants() {
    return IntStream.rangeClosed(1, LoopbackControls.mutants())
        .filter(mutant -> !LoopbackControls.mutantName(mutant).startsWith("engine ")).boxed().toList();
  }

  /** Case by mutant, as the rows {@code | mutant | case |} of the page say. */
  private static Map<String, String> documented() throws IOException {
    Map<String, String> rows = new LinkedHashMap<>();
    for (String line : Files.readAllLines(PAGE)) {
      String[] cells = line.split("\\|", -1);
      if (line.startsWith("| ") && cells.length == 4) rows.put(cells[1].strip(), cells[2].strip());
    }
    rows.remove("mutant");
    return rows;
  }

  @Test
  @DisplayName("the page lists the mutants there are, more than 20")
  void listed() throws IOException {
    List<String> names = storeMutants().stream().map(LoopbackControls::mutantName).toList();
    assertEquals(names, List.copyOf(documented().keySet()));
    assertTrue(names.size() >= 20, () -> "mutants: " + names.size());
  }

  @TestFactory
  @DisplayName("the contract notices")
  Stream<DynamicTest> noticed() throws IOException {
    Map<String, String> documented = documented();
    return storeMutants().stream().map(mutant -> DynamicTest.dynamicTest(LoopbackControls.mutantName(mutant), () -> {
      String named = documented.getOrDefault(LoopbackControls.mutantName(mutant), "");
      boolean notices = StoreContract.cases().stream().filter(contractCase -> contractCase.name().equals(named))
          .anyMatch(contractCase -> IntStream.range(0, ATTEMPTS).anyMatch(attempt -> fails(contractCase, mutant)));
      if (!notices)
        fail("the page names \"" + named + "\", which passes or is no case; what fails is " + failing(mutant));
    }));
  }

  private static List<String> failing(int mutant) {
    return StoreContract.cases().stream().filter(contractCase -> fails(contractCase, mutant)).map(ContractCase::name)
        .toList();
  }

  /** {@return whether the case fails or hangs with the mutant on} */
  private static boolean fails(ContractCase contractCase, int mutant) {
    CompletableFuture<Boolean> passed = new CompletableFuture<>();
    Thread.ofPlatform().daemon().name("mutant").start(() -> {
      try {
        contractCase.run(new LoopbackSubject(mutant));
        passed.complete(true);
      } catch (Throwable noticed) {
        passed.complete(false);
      }
    });
    try {
      return !passed.get(CASE_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (TimeoutException hangs) {
      return true;
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    } finally {
      LoopbackControls.reset();
    }
  }
}
