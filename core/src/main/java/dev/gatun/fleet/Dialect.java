package dev.gatun.fleet;

import java.util.List;

/** The requests of one kind of server. */
interface Dialect {
  Action wake(List<String> tags);

  Action pause(PauseMode mode);

  Action abort();

  Action reset(Capabilities can);

  Action sleep();

  Action resume();
}
