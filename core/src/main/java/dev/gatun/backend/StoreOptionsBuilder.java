package dev.gatun.backend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Collects the fields of {@link StoreOptions}; {@link #build} checks them all. Owned by one thread.
 *
 * <p>Each field may be set as a value or, through {@link #set}, as text.
 */
public final class StoreOptionsBuilder {
  private static final Map<String, BiConsumer<StoreOptionsBuilder, String>> SETTERS = Map.ofEntries(
      Map.entry("library", (b, text) -> b.library = text),
      Map.entry("localHostname", StoreOptionsBuilder::localHostname),
      Map.entry("localPort", (b, text) -> b.localPort(port("localPort", text))),
      Map.entry("metadataServer", StoreOptionsBuilder::metadataServer),
      Map.entry("segmentBytes", (b, text) -> b.segmentBytes(ByteSize.parse("segmentBytes", text))),
      Map.entry("localBufferBytes", (b, text) -> b.localBufferBytes(ByteSize.parse("localBufferBytes", text))),
      Map.entry("protocol", StoreOptionsBuilder::protocol),
      Map.entry("devices", StoreOptionsBuilder::devices),
      Map.entry("master", StoreOptionsBuilder::master),
      Map.entry("masterPort", (b, text) -> b.masterPort(port("masterPort", text))),
      Map.entry("masterAdmin", StoreOptionsBuilder::masterAdmin),
      Map.entry("rpcTimeout", (b, text) -> b.rpcTimeout(OptionText.duration("rpcTimeout", text))),
      Map.entry("adminTimeout", (b, text) -> b.adminTimeout(OptionText.duration("adminTimeout", text))),
      Map.entry("closeTimeout", (b, text) -> b.closeTimeout(OptionText.duration("closeTimeout", text))),
      Map.entry("libraryPath", (b, text) -> b.libraryPath(text.isEmpty() ? null : Path.of(text))));

  private String library;
  private String localHostname = "";
  private int localPort = HostPort.NO_PORT;
  private String metadataServer = StoreAddresses.P2P;
  private long segmentBytes;
  // 16 MiB: one large page in flight for each of a few threads; unmeasured default
  private long localBufferBytes = 16L << 20;
  private String protocol = "tcp";
  private String devices = "";
  private String master = "";
  private int masterPort = HostPort.NO_PORT;
  private String masterAdmin = "";
  // 10 s: a third of the library's 30 s, room for a removal of many keys; unmeasured default
  private Duration rpcTimeout = Duration.ofSeconds(10);
  // 2 s: the administration answers within 2 ms on one machine; unmeasured default
  private Duration adminTimeout = Duration.ofSeconds(2);
  // 30 s: destroying a store whose master is dead was measured to take 9.5 s
  private Duration closeTimeout = Duration.ofSeconds(30);
  private @Nullable Path libraryPath;

  StoreOptionsBuilder(String library) {
    this.library = library;
  }

  StoreOptionsBuilder(StoreOptions from) {
    this(from.library());
    localHostname = from.localHostname();
    metadataServer = from.metadataServer();
    segmentBytes = from.segmentBytes();
    localBufferBytes = from.localBufferBytes();
    protocol = from.protocol();
    devices = from.devices();
    master = from.master();
    masterAdmin = from.masterAdmin();
    rpcTimeout = from.rpcTimeout();
    adminTimeout = from.adminTimeout();
    closeTimeout = from.closeTimeout();
    libraryPath = from.libraryPath();
  }

  /**
   * Sets the name of this client. Without one, a loopback master gives {@code 127.0.0.1} and any other is refused.
   *
   * @param host {@code host} or {@code host:port}
   * @return this
   */
  public StoreOptionsBuilder localHostname(String host) {
    this.localHostname = host;
    return this;
  }

  /**
   * Names this client by the address of the network interface that leads to the master. Sends nothing; may block while
   * the master's name is resolved.
   *
   * @return this
   * @throws IllegalArgumentException if there is no route to the master or its host is not known
   */
  public StoreOptionsBuilder localHostnameTowardsMaster() {
    String address = master();
    if (library.equals(StoreOptions.LOOPBACK)) {
      throw new IllegalArgumentException("localHostname has no meaning on the loopback library: " + address);
    }
    if (StoreAddresses.isHighAvailability(address)) {
      throw new IllegalArgumentException(
          "localHostname must be given, since the master has no single host: " + address);
    }
    HostPort target = HostPort.parse("master", address, StoreAddresses.MASTER_PORT);
    try (DatagramSocket probe = new DatagramSocket()) {
      probe.connect(new InetSocketAddress(InetAddress.getByName(target.host()), target.port()));
      String local = probe.getLocalAddress().getHostAddress();
      int zone = local.indexOf('%');
      return localHostname(zone < 0 ? local : local.substring(0, zone));
    } catch (IOException | UncheckedIOException e) {
      throw new IllegalArgumentException("localHostname must be given, since no route leads to the master " + target,
          e);
    }
  }

  /**
   * Sets the port of this client's name.
   *
   * @param port 1 to 65,535; refused by {@link #build} if the name has a port already
   * @return this
   */
  public StoreOptionsBuilder localPort(int port) {
    this.localPort = port;
    return this;
  }

  /**
   * Sets the metadata service.
   *
   * @param server {@code P2PHANDSHAKE}, the default, or a URL
   * @return this
   */
  public StoreOptionsBuilder metadataServer(String server) {
    this.metadataServer = server;
    return this;
  }

  /**
   * Sets the memory to contribute.
   *
   * @param bytes 0, the default, or at least 16 MiB
   * @return this
   */
  public StoreOptionsBuilder segmentBytes(long bytes) {
    this.segmentBytes = bytes;
    return this;
  }

  /**
   * Sets the staging memory for copying puts.
   *
   * @param bytes 0, or at least 64 KiB; 16 MiB by default
   * @return this
   */
  public StoreOptionsBuilder localBufferBytes(long bytes) {
    this.localBufferBytes = bytes;
    return this;
  }

  /**
   * Sets the transport.
   *
   * @param protocol {@code tcp}, the default, {@code rdma} or another that the library has
   * @return this
   */
  public StoreOptionsBuilder protocol(String protocol) {
    this.protocol = protocol;
    return this;
  }

  /**
   * Sets the devices to use.
   *
   * @param devices names separated by commas; empty, the default, for the library's choice
   * @return this
   */
  public StoreOptionsBuilder devices(String devices) {
    this.devices = devices;
    return this;
  }

  /**
   * Sets the master.
   *
   * @param master {@code host} or {@code host:port}, port 50,051 if none is given; for highly available masters the
   *     address of their registry, {@code etcd://…}, {@code redis://…} or {@code k8s://…}, where the library has it; for
   *     the loopback library {@code loopback:NAME}
   * @return this
   */
  public StoreOptionsBuilder master(String master) {
    this.master = master;
    return this;
  }

  /**
   * Sets the master's port.
   *
   * @param port 1 to 65,535; refused by {@link #build} if the master has a port already
   * @return this
   */
  public StoreOptionsBuilder masterPort(int port) {
    this.masterPort = port;
    return this;
  }

  /**
   * Sets where the master's administration listens.
   *
   * @param url {@code host:port} or {@code http://host:port}; empty, the default, for none
   * @return this
   */
  public StoreOptionsBuilder masterAdmin(String url) {
    this.masterAdmin = url;
    return this;
  }

  /**
   * Sets the longest wait for one answer of the master.
   *
   * @param timeout 100 ms to 10 minutes; 10 s by default
   * @return this
   */
  public StoreOptionsBuilder rpcTimeout(Duration timeout) {
    this.rpcTimeout = timeout;
    return this;
  }

  /**
   * Sets the longest wait for one answer of the administration.
   *
   * @param timeout 100 ms to 10 minutes; 2 s by default
   * @return this
   */
  public StoreOptionsBuilder adminTimeout(Duration timeout) {
    this.adminTimeout = timeout;
    return this;
  }

  /**
   * Sets how long closing may take.
   *
   * @param timeout 100 ms to 10 minutes; 30 s by default
   * @return this
   */
  public StoreOptionsBuilder closeTimeout(Duration timeout) {
    this.closeTimeout = timeout;
    return this;
  }

  /**
   * Sets the shared library to load.
   *
   * @param library its file; null, the default, to look in the documented places
   * @return this
   */
  public StoreOptionsBuilder libraryPath(@Nullable Path library) {
    this.libraryPath = library;
    return this;
  }

  /**
   * Sets a field from text.
   *
   * @param name the field, as {@link StoreOptions} names it
   * @param text its value: sizes with units, durations as {@code 500ms} or {@code 5s}
   * @return this
   * @throws IllegalArgumentException for an unknown name, with the closest known one, or a text that is not understood
   */
  public StoreOptionsBuilder set(String name, String text) {
    BiConsumer<StoreOptionsBuilder, String> setter = SETTERS.get(name);
    if (setter == null) throw OptionText.unknown("option", name, SETTERS.keySet());
    setter.accept(this, text);
    return this;
  }

  /**
   * {@return the checked options}
   *
   * @throws IllegalArgumentException if a field is wrong, naming it, its value and what is allowed
   */
  public StoreOptions build() {
    return new StoreOptions(library, localName(), metadataServer, segmentBytes, localBufferBytes, protocol, devices,
        master(), masterAdmin, rpcTimeout, adminTimeout, closeTimeout, libraryPath);
  }

  private String localName() {
    if (!localHostname.isEmpty()) return withPort("localHostname", localHostname, "localPort", localPort);
    if (library.equals(StoreOptions.LOOPBACK)) return withPort("localHostname", "127.0.0.1", "localPort", localPort);
    String address = StoreAddresses.master(library, master());
    if (!StoreAddresses.isHighAvailability(address)
        && HostPort.parse("master", address, StoreAddresses.MASTER_PORT).isLoopback()) {
      return withPort("localHostname", "127.0.0.1", "localPort", localPort);
    }
    throw new IllegalArgumentException(
        "localHostname must be host or host:port that other machines reach, since the master is " + address + ": \"\"");
  }

  private String master() {
    return withPort("master", master, "masterPort", masterPort);
  }

  /** Adds the port to the host, unless there would then be two. */
  private static String withPort(String hostField, String host, String portField, int port) {
    if (port == HostPort.NO_PORT) return host;
    if (port < 1 || port > 65_535) throw new IllegalArgumentException(portField + " must be 1 to 65535: " + port);
    HostPort parsed = HostPort.parse(hostField, host, HostPort.NO_PORT);
    if (parsed.port() != HostPort.NO_PORT) {
      throw new IllegalArgumentException("ambiguous: " + hostField + " has a port already (" + parsed + ") and "
          + portField + " is " + port + "; give one of them");
    }
    return new HostPort(parsed.host(), port).toString();
  }

  private static int port(String field, String text) {
    return (int) OptionText.integer(field, text, 1, 65_535);
  }
}
