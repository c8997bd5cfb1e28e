package dev.gatun.memory;

import java.util.ArrayList;
import java.util.List;

/** A native library's side that writes down what it is asked, and can be told to fail or to be busy. */
final class CountingRegistrar implements Registrar {
  final List<String> events = new ArrayList<>();
  int running;
  boolean failRegister;
  boolean failUnregister;
  long registeredBytes;

  private final String name;

  CountingRegistrar(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void register(Slab slab) {
    events.add("register");
    if (failRegister) throw new IllegalStateException("register failed");
    registeredBytes += slab.byteSize();
  }

  @Override
  public void unregister(Slab slab) {
    if (!slab.isOpen()) throw new AssertionError("unregistered after the memory was freed");
    events.add("unregister");
    if (failUnregister) throw new IllegalStateException("unregister failed");
    registeredBytes -= slab.byteSize();
  }

  @Override
  public int transfersInFlight() {
    return running;
  }
}
