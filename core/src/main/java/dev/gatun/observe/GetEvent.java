package dev.gatun.observe;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

@Name("dev.gatun.Get")
@Label("Get")
@Description("A get of one key or a batch, after the native call")
@Category("Gatun")
@StackTrace(false)
final class GetEvent extends Event {
  @Label("Hits")
  int hits;

  @Label("Misses")
  int misses;

  @Label("Leases Expired")
  int leaseExpired;

  @Label("Pages Rejected")
  int rejected;

  @Label("Failed Keys")
  int failed;

  @Label("Bytes")
  @DataAmount
  long bytes;

  @Label("Duration")
  @Timespan(Timespan.NANOSECONDS)
  long nanos;
}
