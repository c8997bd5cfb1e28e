package dev.gatun.observe;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

@Name("dev.gatun.Reset")
@Label("Reset")
@Description("A refit that ended")
@Category("Gatun")
@StackTrace(false)
final class ResetEvent extends Event {
  @Label("Run")
  String run = "";

  @Label("Weight Version")
  long version;

  @Label("Outcome")
  String outcome = "";

  @Label("Removed Objects")
  long removed;

  @Label("Duration")
  @Timespan(Timespan.NANOSECONDS)
  long nanos;
}
