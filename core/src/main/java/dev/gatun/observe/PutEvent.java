package dev.gatun.observe;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

@Name("dev.gatun.Put")
@Label("Put")
@Description("A put of one key or a batch, after the native call")
@Category("Gatun")
@StackTrace(false)
final class PutEvent extends Event {
  @Label("Stored Keys")
  int stored;

  @Label("Keys Already Present")
  int alreadyPresent;

  @Label("Failed Keys")
  int failed;

  @Label("Bytes")
  @DataAmount
  long bytes;

  @Label("Duration")
  @Timespan(Timespan.NANOSECONDS)
  long nanos;
}
