package dev.gatun.backend;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What may stand in the address fields of {@link StoreOptions}. Strict because the native libraries are not: an unknown
 * metadata scheme aborts the process and an empty master address crashes it.
 */
final class StoreAddresses {
  static final String P2P = "P2PHANDSHAKE";
  static final String LOOPBACK_PREFIX = "loopback:";
  // the port mooncake_master listens on by default
  static final int MASTER_PORT = 50_051;

  private static final Set<String> METADATA_SCHEMES = Set.of("http", "https", "etcd", "redis");
  private static final Set<String> HA_SCHEMES = Set.of("etcd", "redis", "k8s");
  private static final Pattern POOL = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  // what a URL or a comma-separated list of endpoints needs; no spaces, no control characters, no NUL
  private static final Pattern URL_REST = Pattern.compile("[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=%-]{1,1000}");

  private StoreAddresses() {}

  static String metadata(String library, String text) {
    return metadata(library, text, "metadataServer");
  }

  static String metadata(String library, String text, String field) {
    if (text.equalsIgnoreCase(P2P)) return P2P;
    if (library.equals(StoreOptions.LOOPBACK)) {
      throw new IllegalArgumentException(
          field + " must be " + P2P + " for the loopback library: \"" + text + '"');
    }
    if (isUrl(text, METADATA_SCHEMES)) return text;
    throw new IllegalArgumentException(field + " must be " + P2P
        + " or a URL that starts with http://, https://, etcd:// or redis://: \"" + printable(text) + '"');
  }

  static String master(String library, String text) {
    if (library.equals(StoreOptions.LOOPBACK)) {
      if (text.startsWith(LOOPBACK_PREFIX) && POOL.matcher(text.substring(LOOPBACK_PREFIX.length())).matches()) {
        return text;
      }
      throw new IllegalArgumentException(
          "master must be loopback:NAME with 1 to 64 of [A-Za-z0-9._-] for the loopback library: \"" + printable(text)
              + '"');
    }
    if (text.isBlank()) {
      throw new IllegalArgumentException(
          "master must be host:port, etcd://..., redis://... or k8s://...: \"" + printable(text) + '"');
    }
    return isHighAvailability(text) ? text : HostPort.parse("master", text, MASTER_PORT).toString();
  }

  /** Whether the master is found through a coordination service, so that its host is not known beforehand. */
  static boolean isHighAvailability(String master) {
    return isUrl(master, HA_SCHEMES);
  }

  static String admin(String library, String text) {
    if (text.isEmpty()) return text;
    if (library.equals(StoreOptions.LOOPBACK)) {
      throw new IllegalArgumentException(
          "masterAdmin must be empty for the loopback library: \"" + printable(text) + '"');
    }
    boolean bare = !text.contains("://");
    String url = bare ? "http://" + text : text;
    while (url.endsWith("/"))
      url = url.substring(0, url.length() - 1);
    try {
      URI uri = new URI(url);
      String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
      int port = uri.getPort();
      // a URL may leave its port out; a bare host without one is a port forgotten
      boolean portGiven = port >= 1 && port <= 65_535;
      if (Set.of("http", "https").contains(scheme) && uri.getHost() != null && (portGiven || (port == -1 && !bare))
          && uri.getQuery() == null && uri.getFragment() == null) {
        return url;
      }
    } catch (URISyntaxException malformed) {
      // refused below with the forms that are allowed
    }
    throw new IllegalArgumentException(
        "masterAdmin must be host:port or http(s)://host:port[/path]: \"" + printable(text) + '"');
  }

  /** The address without the password that a URL may carry. */
  static String masked(String address) {
    return address.replaceFirst("(://)[^/@]*@", "$1***@");
  }

  static String printable(String text) {
    return text.replaceAll("\\p{Cntrl}", "?");
  }

  private static boolean isUrl(String text, Set<String> schemes) {
    int end = text.indexOf("://");
    return end > 0 && schemes.contains(text.substring(0, end)) && URL_REST.matcher(text.substring(end + 3)).matches();
  }
}
