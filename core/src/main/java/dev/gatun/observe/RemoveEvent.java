package dev.gatun.observe;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

@Name("dev.gatun.Remove")
@Label("Remove")
@Description("A removal, after the native call")
@Category("Gatun")
@StackTrace(false)
final class RemoveEvent extends Event {
  @Label("Removed Objects")
  long removed;

  @Label("Failed")
  boolean failed;

  @Label("Duration")
  @Timespan(Timespan.NANOSECONDS)
  long nanos;
}
