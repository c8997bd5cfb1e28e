package dev.gatun.backend;

import java.net.Inet6Address;
import java.util.regex.Pattern;

/**
 * A host and a TCP port. IPv6 addresses are held without brackets and written with them.
 *
 * @param host DNS name, IPv4 address, or IPv6 address without brackets
 * @param port 1 to 65,535, or 0 where none was given
 */
public record HostPort(String host, int port) {
  /** Where no port was given and there is no default. */
  public static final int NO_PORT = 0;

  // letters, digits, dots and hyphens as in DNS; underscores because container names have them; 253 is DNS's limit
  private static final Pattern NAME = Pattern.compile("(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\\.?");
  private static final Pattern DOTTED_DIGITS = Pattern.compile("[0-9.]+");
  private static final Pattern IPV4 = Pattern.compile("(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?:\\.(?!$)|$)){4}");
  private static final Pattern ZEROS = Pattern.compile("[0.]+");
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

  /**
   * Checks.
   *
   * @throws IllegalArgumentException if the host is empty or the port out of range
   */
  public HostPort {
    if (host.isEmpty()) throw new IllegalArgumentException("host must not be empty");
    if (port < 0 || port > 65_535) throw new IllegalArgumentException("port must be 0 to 65535: " + port);
  }

  /**
   * Takes {@code host}, {@code host:port}, {@code [IPv6]:port}, {@code [IPv6]} or a bare IPv6 address, which has no port.
   *
   * @param field name for the message
   * @param text what was written
   * @param defaultPort port to use where the text has none, or {@link #NO_PORT}
   * @return host and port
   * @throws IllegalArgumentException naming field, text and what is allowed
   */
  public static HostPort parse(String field, String text, int defaultPort) {
    int close = text.lastIndexOf(']');
    int colon = text.lastIndexOf(':');
    if (text.startsWith("[") && close > 0) {
      String rest = text.substring(close + 1);
      if (!rest.isEmpty() && !rest.startsWith(":")) throw refused(field, text);
      return new HostPort(ipv6(field, text, text.substring(1, close)),
          rest.isEmpty() ? defaultPort : port(field, text, rest.substring(1)));
    }
    if (colon != text.indexOf(':')) return new HostPort(ipv6(field, text, text), defaultPort);
    if (colon < 0) return new HostPort(host(field, text, text), defaultPort);
    return new HostPort(host(field, text, text.substring(0, colon)), port(field, text, text.substring(colon + 1)));
  }

  /** {@return whether the host is this machine's loopback interface, by name or address} */
  public boolean isLoopback() {
    if (host.equalsIgnoreCase("localhost")) return true;
    if (isIpv6()) return Inet6Address.ofLiteral(host).isLoopbackAddress();
    return IPV4.matcher(host).matches() && host.startsWith("127.");
  }

  /** {@return whether the host stands for every interface: a place to listen on, not one to be reached at} */
  public boolean isWildcard() {
    if (isIpv6()) return Inet6Address.ofLiteral(host).isAnyLocalAddress();
    return ZEROS.matcher(host).matches();
  }

  /** {@return whether the host is an IPv6 address} */
  public boolean isIpv6() {
    return host.indexOf(':') >= 0;
  }

  /** {@return {@code host:port}, or the host alone where there is no port} */
  @Override
  public String toString() {
    String name = isIpv6() ? '[' + host + ']' : host;
    return port == NO_PORT ? name : name + ':' + port;
  }

  private static String host(String field, String text, String host) {
    if (!NAME.matcher(host).matches()) throw refused(field, text);
    // "10.0.0.300" would otherwise pass as a name and fail much later, in a resolver
    if (DOTTED_DIGITS.matcher(host).matches() && !IPV4.matcher(host).matches()) throw refused(field, text);
    return host;
  }

  private static String ipv6(String field, String text, String address) {
    try {
      Inet6Address.ofLiteral(address);
      return address;
    } catch (IllegalArgumentException e) {
      throw refused(field, text);
    }
  }

  private static int port(String field, String text, String port) {
    int value = PORT.matcher(port).matches() ? Integer.parseInt(port) : 0;
    if (value < 1 || value > 65_535) throw refused(field, text);
    return value;
  }

  private static IllegalArgumentException refused(String field, String text) {
    return new IllegalArgumentException(field
        + " must be host, host:port or [IPv6]:port with a port of 1 to 65535: \"" + text.replace("\0", "\\0") + '"');
  }
}
