package dev.gatun.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.gatun.backend.WeightEpoch;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jfr.DataAmount;
import jdk.jfr.Recording;
import jdk.jfr.Timespan;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecorderObserverTest {

  @Test
  @DisplayName("K16.04 each operation is one event, with typed amounts and times")
  void events(@TempDir Path folder) throws Exception {
    FlightRecorderObserver observer = new FlightRecorderObserver();
    observer.onSkip("before any recording", 1);
    Path file = folder.resolve("gatun.jfr");
    try (Recording recording = new Recording()) {
      for (String name : new String[]{"Put", "Get", "Exists", "Remove", "Skip", "Reset"}) {
        recording.enable("dev.gatun." + name);
      }
      recording.start();
      observer.onPut(1, 2, 3, 4096, 5);
      observer.onGet(1, 2, 3, 4, 5, 4096, 7);
      observer.onExists(1, 2, 3, 4);
      observer.onRemove(8, true, 9);
      observer.onSkip("gate", 10);
      observer.onReset(new WeightEpoch("run", 11), "VERIFIED", 12, 13);
      recording.stop();
      recording.dump(file);
    }

    Map<String, RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("dev.gatun."))
        .collect(Collectors.toMap(event -> event.getEventType().getName(), event -> event));

    assertEquals(6, events.size());
    RecordedEvent get = event(events, "Get");
    assertEquals(1, get.getInt("hits"));
    assertEquals(2, get.getInt("misses"));
    assertEquals(3, get.getInt("leaseExpired"));
    assertEquals(4, get.getInt("rejected"));
    assertEquals(5, get.getInt("failed"));
    assertEquals(4096, get.getLong("bytes"));
    assertEquals(7, get.getDuration("nanos").toNanos());
    assertNotNull(get.getEventType().getField("bytes").getAnnotation(DataAmount.class));
    assertNotNull(get.getEventType().getField("nanos").getAnnotation(Timespan.class));
    RecordedEvent put = event(events, "Put");
    assertEquals("1 2 3 4096 5", put.getInt("stored") + " " + put.getInt("alreadyPresent") + " " + put.getInt("failed")
        + " " + put.getLong("bytes") + " " + put.getDuration("nanos").toNanos());
    RecordedEvent exists = event(events, "Exists");
    assertEquals("1 2 3 4", exists.getInt("present") + " " + exists.getInt("absent") + " " + exists.getInt("failed")
        + " " + exists.getDuration("nanos").toNanos());
    RecordedEvent remove = event(events, "Remove");
    assertEquals("8 true 9", remove.getLong("removed") + " " + remove.getBoolean("failed") + " "
        + remove.getDuration("nanos").toNanos());
    assertEquals("gate 10", event(events, "Skip").getString("reason") + " " + event(events, "Skip").getInt("keys"));
    RecordedEvent reset = event(events, "Reset");
    assertEquals("run 11 VERIFIED 12 13", reset.getString("run") + " " + reset.getLong("version") + " "
        + reset.getString("outcome") + " " + reset.getLong("removed") + " " + reset.getDuration("nanos").toNanos());
  }

  private static RecordedEvent event(Map<String, RecordedEvent> events, String name) {
    RecordedEvent event = events.get("dev.gatun." + name);
    if (event == null) throw new AssertionError("no event dev.gatun." + name);
    return event;
  }
}
