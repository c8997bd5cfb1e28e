package dev.gatun.observe;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("dev.gatun.Skip")
@Label("Skip")
@Description("Work that was not attempted")
@Category("Gatun")
@StackTrace(false)
final class SkipEvent extends Event {
  @Label("Reason")
  String reason = "";

  @Label("Keys")
  int keys;
}
