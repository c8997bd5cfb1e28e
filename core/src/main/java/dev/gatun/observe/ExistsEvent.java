package dev.gatun.observe;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

@Name("dev.gatun.Exists")
@Label("Exists")
@Description("An existence query, after the native call")
@Category("Gatun")
@StackTrace(false)
final class ExistsEvent extends Event {
  @Label("Present Keys")
  int present;

  @Label("Absent Keys")
  int absent;

  @Label("Failed Keys")
  int failed;

  @Label("Duration")
  @Timespan(Timespan.NANOSECONDS)
  long nanos;
}
