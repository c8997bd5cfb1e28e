package dev.gatun.device;

/** Methods that hand foreign addresses or handles to the driver: a wrong one can end the process. */
final class RestrictedCall {
  private RestrictedCall() {}

  static void require(Class<?> caller, String method) {
    Module module = caller.getModule();
    if (module.isNativeAccessEnabled()) return;
    throw new IllegalCallerException(method + " is restricted; allow it with --enable-native-access="
        + (module.isNamed() ? module.getName() : "ALL-UNNAMED"));
  }
}
