package dev.gatun.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.backend.EngineException;
import dev.gatun.backend.EngineOptions;
import dev.gatun.backend.EpochGate;
import dev.gatun.backend.GatunException;
import dev.gatun.backend.WeightEpoch;
import dev.gatun.internal.backend.LoopbackControls;
import dev.gatun.memory.Slab;
import dev.gatun.memory.SlabOptions;
import dev.gatun.testing.SizeLimit;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RegistrationAdviceTest {
  private final SteeredBackend library = new SteeredBackend();
  private final TransferEngine engine = TransferEngine.open(library, EngineOptions.loopback(),
      new EpochGate(new WeightEpoch("advice", 1)));

  @BeforeEach
  void reset() {
    LoopbackControls.reset();
  }

  @AfterEach
  void close() {
    LoopbackControls.reset();
    engine.close();
  }

  @Test
  @DisplayName("K5.09 a slab beyond what can be registered never reaches the library; a refused one carries the hint")
  void refusesAndHints() {
    try (Slab slab = Slab.allocate(SlabOptions.of("large", 1 << 20))) {
      library.advice = new SizeLimit(4096);
      GatunException refused = assertThrows(GatunException.class, () -> engine.register(slab));
      assertTrue(String.valueOf(refused.getMessage()).contains("1048576 bytes are more than 4096"),
          refused.getMessage());
      library.advice = new SizeLimit(1 << 20);
      LoopbackControls.arm("engine.register", LoopbackControls.Action.FAIL, -12, 1);
      EngineException failed = assertThrows(EngineException.class, () -> engine.register(slab));
      assertTrue(String.valueOf(failed.getMessage()).contains("; hint for 1048576 bytes and code -12"),
          failed.getMessage());
      assertEquals(List.of(), slab.registrations());
    }
  }
}
