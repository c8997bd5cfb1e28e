package dev.gatun.backend;

/**
 * Everything a store needs to open. Nothing is read from the environment.
 *
 * @param library {@code loopback} or {@code mooncake}
 * @param localHostname {@code host} or {@code host:port} under which this client is known; without a port one is chosen
 * @param metadataServer {@code P2PHANDSHAKE} or a URL of a metadata service
 * @param segmentBytes memory this client contributes to the store, 0 for none
 * @param localBufferBytes staging for copying puts, 0 for none
 * @param protocol {@code tcp}, {@code rdma} or another transport of the library
 * @param devices comma-separated device names, empty for the library's choice
 * @param master {@code host:port} of the master; for loopback {@code loopback:NAME}, the pool shared in this process
 * @param masterAdmin base URL of the master's administration, empty for none; loopback needs none
 */
public record StoreOptions(String library, String localHostname, String metadataServer, long segmentBytes,
  long localBufferBytes, String protocol, String devices, String master, String masterAdmin) {

  /**
   * {@return options for the embedded store}
   *
   * @param pool name of the pool; stores of one process that name the same pool meet in it
   * @param segmentBytes memory to contribute
   */
  public static StoreOptions loopback(String pool, long segmentBytes) {
    return new StoreOptions("loopback", "127.0.0.1", "P2PHANDSHAKE", segmentBytes, 16L << 20, "tcp", "",
      "loopback:" + pool, "");
  }
}
