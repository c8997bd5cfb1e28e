package dev.gatun.transfer.device;

import static dev.gatun.testing.Thrown.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gatun.device.Device;
import dev.gatun.transfer.device.PathRefusal.Cause;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which path device pages take is a property of what both sides can do. */
class PathChoiceTest {
  private static final DeviceCapabilities ALL = new DeviceCapabilities("boot-1", "pid:[1]", "kv", "ffm", "", "", "",
      "loopback");

  private static DeviceCapabilities with(String field, String value) {
    Map<String, String> map = new HashMap<>(ALL.map());
    map.put(field, value);
    return DeviceCapabilities.of(map);
  }

  @ParameterizedTest(name = "{0} \"{1}\": {2}")
  @CsvSource(quoteCharacter = '"', value = {"driver,lwjgl,same-host,", "host,boot-2,nixl,OTHER_HOST",
      "processes,pid:[2],nixl,OTHER_PROCESS_NAMESPACE", "user,other,nixl,OTHER_USER", "driver,host,nixl,OTHER_DRIVER",
      "sharingMissing,virtual memory,nixl,NOT_SHARED", "sameHostTried,refused,nixl,TRIED",
      "nixlMissing,none,same-host,",
      "engine,mooncake,same-host,", "engine,\"\",same-host,"})
  @DisplayName("the fastest path that both can take, whichever side lacks what, and why no faster one")
  void choice(String field, String value, String path, String cause) {
    for (List<DeviceCapabilities> sides : List.of(List.of(ALL, with(field, value)), List.of(with(field, value), ALL))) {
      PathChoice choice = PathChoice.between(sides.getFirst(), sides.getLast());
      assertEquals(DevicePath.of(path), choice.path(), choice::toString);
      List<Cause> expected = cause == null ? List.of() : List.of(Cause.valueOf(cause));
      assertEquals(expected, choice.passedOver().stream().map(PathRefusal::cause).toList());
      assertTrue(!choice.fixed() && !choice.why().isEmpty());
    }
  }

  @Test
  @DisplayName("without sharing and without NIXL pages go through the host, and both reasons are said")
  void staged() {
    PathChoice choice = PathChoice.between(ALL.withoutSharing("a pool of virtual memory"),
        with("nixlMissing", "gatun nixl install has not run"));
    assertEquals(DevicePath.STAGED, choice.path());
    assertEquals("same-host: a pool of virtual memory; nixl: gatun nixl install has not run", choice.why());
    PathChoice tried = PathChoice.between(ALL.afterSameHostFailed("no peer access"), with("nixlMissing", "none"));
    assertEquals(List.of(Cause.TRIED, Cause.NO_NIXL), tried.passedOver().stream().map(PathRefusal::cause).toList());
  }

  @Test
  @DisplayName("with no path at all every reason is in the error")
  void none() {
    DeviceCapabilities poor = with("nixlMissing", "no library").withoutSharing("no IPC");
    DeviceCapabilities other = with("engine", "mooncake");
    PathUnavailableException none = assertThrows(PathUnavailableException.class,
        () -> PathChoice.between(poor, other));
    assertEquals(List.of(Cause.NOT_SHARED, Cause.NO_NIXL, Cause.NO_ENGINE),
        none.refusals().stream().map(PathRefusal::cause).toList());
    assertTrue(String.valueOf(none.getMessage()).contains("nixl: no library"), none.getMessage());
  }

  @Test
  @DisplayName("a path that configuration names is taken, or refused with the reason; never another one in its place")
  void fixed() {
    for (DevicePath path : DevicePath.values()) {
      PathChoice choice = PathChoice.fixed(path, ALL, ALL);
      assertEquals(path, choice.path());
      assertEquals("fixed by configuration", choice.why());
    }
    assertEquals(
        "path same-host is fixed by configuration and cannot be taken: same-host: the two run on different machines",
        message(PathUnavailableException.class,
            () -> PathChoice.fixed(DevicePath.SAME_HOST, ALL, with("host", "boot-2"))));
    assertTrue(message(IllegalArgumentException.class, () -> DevicePath.of("rdma"))
        .contains("same-host, nixl, staged"));
  }

  @Test
  @DisplayName("capabilities are those of this process and travel as texts; one that is missing is named")
  void capabilities() {
    try (Device gpu = Device.open("host", 0)) {
      DeviceCapabilities own = DeviceCapabilities.of(gpu, "none", "loopback");
      assertEquals(own, DeviceCapabilities.of(own.map()));
      assertEquals("host", own.driver());
      assertEquals(DevicePath.SAME_HOST, PathChoice.between(own, DeviceCapabilities.of(gpu, "none", "")).path());
      for (String name : new ArrayList<>(own.map().keySet())) {
        Map<String, String> map = new HashMap<>(own.map());
        map.remove(name);
        assertTrue(
            message(IllegalArgumentException.class, () -> DeviceCapabilities.of(map)).contains('"' + name + '"'));
      }
    }
  }
}
