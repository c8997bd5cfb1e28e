package dev.gatun.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KeyOwnersTest {

  @Test
  @DisplayName("one deployment and canaries are one owner at most; two, or keys of unknown form, are not")
  void one() {
    assertTrue(KeyOwners.of(List.of()).areOneAtMost());
    assertTrue(KeyOwners.of(List.of("a/run/1/x", "a/run/2/y", GatunKey.CANARY + "run/1/c",
        "sglang_mooncake_store_warmup_key1")).areOneAtMost());
    assertFalse(KeyOwners.of(List.of("a/run/1/x", "b/run/1/x")).areOneAtMost());
    assertFalse(KeyOwners.of(List.of("x")).areOneAtMost());
  }

  @Test
  @DisplayName("ten owners are named, of more it is said that there are")
  void named() {
    KeyOwners many = KeyOwners.of(IntStream.range(10, 22).mapToObj(i -> "n" + i + "/run/1/x").toList());
    assertEquals(12, many.names().size());
    assertTrue(many.toString().endsWith("gatun n19; …"), many::toString);
    assertEquals("gatun b; keys of unknown form", KeyOwners.of(List.of("x", "b/run/1/x", "y")).toString());
  }
}
