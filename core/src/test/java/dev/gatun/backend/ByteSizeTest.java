package dev.gatun.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.testing.Thrown;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"0,0", "4096,4096", "7b,7", "16 MiB,16777216", "16MB,16777216", "1g,1073741824", "1.5g,1610612736",
      "4 GB,4294967296", "1tib,1099511627776", "0.1k,102", "9223372036854775807,9223372036854775807"})
  @DisplayName("sizes are read with units in steps of 1,024")
  void reads(String text, long bytes) {
    assertEquals(bytes, ByteSize.parse("segmentBytes", text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", " 7 ", "-1", "12abc", "1 2", "1,5g", "g", "0x10", "1e9", "16  MiB", "16 MiBs", "NaN",
      "99999999999999999999", "9223372036854775808", "8388608 t", "99999999999g", "1.g", "½"})
  @DisplayName("K9.11 garbage, negative and overflowing sizes are refused with field and value")
  void refuses(String text) {
    String message = Thrown.message(IllegalArgumentException.class, () -> ByteSize.parse("segmentBytes", text));
    assertTrue(message.startsWith("segmentBytes must be") && message.contains('"' + text + '"'), message);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"0,0 B", "1,1 B", "1023,1023 B", "1024,1 KiB", "16777216,16 MiB", "16777217,16777217 B",
      "1610612736,1536 MiB", "1125899906842624,1024 TiB"})
  @DisplayName("sizes are written with the largest unit that loses nothing, and read back")
  void writes(long bytes, String text) {
    assertEquals(text, ByteSize.format(bytes));
    assertEquals(bytes, ByteSize.parse("bytes", text));
  }
}
