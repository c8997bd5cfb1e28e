/** Finds, extracts and loads the shared libraries that Gatun talks to. */
module dev.gatun.nativelib {
  requires static transitive org.jspecify;

  exports dev.gatun.nativelib;
}
