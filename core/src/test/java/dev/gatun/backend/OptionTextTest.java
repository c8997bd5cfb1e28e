package dev.gatun.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionTextTest {
  @ParameterizedTest
  @ValueSource(strings = {"false", "False", "FALSE", "0", "no", "off"})
  @DisplayName("K9.09 false is false, however it is written")
  void falseIsFalse(String text) {
    assertFalse(OptionText.bool("enable_offload", text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "True", "1", "yes", "on"})
  @DisplayName("K9.09 true is true, however it is written")
  void trueIsTrue(String text) {
    assertTrue(OptionText.bool("enable_offload", text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"maybe", "", " ", "2", "truee", " true"})
  @DisplayName("K9.09 anything else is no truth value")
  void otherIsRefused(String text) {
    String message = Thrown.message(IllegalArgumentException.class, () -> OptionText.bool("enable_offload", text));
    assertEquals("enable_offload must be true, yes, on, 1, false, no, off or 0: \"" + text + '"', message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"12abc", "", " 7 ", "99999999999", "99999999999999999999999", "1.0", "+7", "0x7", "-1", "0"})
  @DisplayName("K9.11 numbers are digits within bounds, nothing else")
  void integersAreChecked(String text) {
    String message = Thrown.message(IllegalArgumentException.class,
        () -> OptionText.integer("masterPort", text, 1, 65_535));
    assertEquals("masterPort must be a whole number from 1 to 65535: \"" + text + '"', message);
  }

  @Test
  @DisplayName("numbers at the bounds are read")
  void integersAtBounds() {
    assertEquals(1, OptionText.integer("masterPort", "1", 1, 65_535));
    assertEquals(65_535, OptionText.integer("masterPort", "65535", 1, 65_535));
  }

  @ParameterizedTest
  @CsvSource({"500ms,500", "5s,5000", "5 S,5000", "2m,120000", "1h,3600000"})
  @DisplayName("durations are read with their unit")
  void durations(String text, long millis) {
    assertEquals(Duration.ofMillis(millis), OptionText.duration("rpcTimeout", text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "5sec", "-5s", "1.5s", "s", "PT5S", "5  s", "99999999999s"})
  @DisplayName("K9.11 durations without a unit, or that are none, are refused")
  void durationsRefused(String text) {
    String message = Thrown.message(IllegalArgumentException.class, () -> OptionText.duration("rpcTimeout", text));
    assertTrue(message.startsWith("rpcTimeout must be a whole number with ms, s, m or h"), message);
  }

  @Test
  @DisplayName("K9.10 an unknown name is refused with the closest known one")
  void unknownNames() {
    List<String> known = List.of("segmentBytes", "localBufferBytes", "master");
    assertEquals("unknown option \"segmentByts\"; did you mean \"segmentBytes\"?",
        OptionText.unknown("option", "segmentByts", known).getMessage());
    assertEquals("unknown option \"segment_bytes\"; did you mean \"segmentBytes\"?",
        OptionText.unknown("option", "segment_bytes", known).getMessage());
    assertEquals("unknown option \"colour\"; known: localBufferBytes, master, segmentBytes",
        OptionText.unknown("option", "colour", known).getMessage());
  }
}
