/** The {@code gatun} command. */
module dev.gatun.cli {
  requires static transitive org.jspecify;
  requires dev.gatun.core;
  requires dev.gatun.nativelib;
  requires info.picocli;
  requires org.agrona;
  requires com.fasterxml.jackson.core;
  requires com.fasterxml.jackson.databind;

  opens dev.gatun.cli to info.picocli;
}
