package dev.gatun.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreCodeTest {
  /** The library's table, written down a second time: name by number. */
  private static final String TABLE = """
      0 OK, -1 INTERNAL_ERROR, -10 BUFFER_OVERFLOW, -100 SHARD_INDEX_OUT_OF_RANGE, -101 SEGMENT_NOT_FOUND,
      -102 SEGMENT_ALREADY_EXISTS, -103 CLIENT_NOT_FOUND, -200 NO_AVAILABLE_HANDLE, -300 INVALID_VERSION, -400 INVALID_KEY,
      -500 WRITE_FAIL, -600 INVALID_PARAMS, -601 ILLEGAL_CLIENT, -700 INVALID_WRITE, -701 INVALID_READ,
      -702 INVALID_REPLICA, -703 REPLICA_IS_NOT_READY, -704 OBJECT_NOT_FOUND, -705 OBJECT_ALREADY_EXISTS,
      -706 OBJECT_HAS_LEASE, -707 LEASE_EXPIRED, -708 OBJECT_HAS_REPLICATION_TASK, -709 OBJECT_NO_REPLICATION_TASK,
      -710 REPLICA_NOT_FOUND, -711 REPLICA_ALREADY_EXISTS, -712 REPLICA_IS_GONE, -713 REPLICA_NOT_IN_LOCAL_MEMORY,
      -714 OBJECT_REPLICA_BUSY, -800 TRANSFER_FAIL, -801 CHECKSUM_MISMATCH, -900 RPC_FAIL, -901 RPC_TIMEOUT,
      -1000 ETCD_OPERATION_ERROR, -1001 ETCD_KEY_NOT_EXIST, -1002 ETCD_TRANSACTION_FAIL, -1003 ETCD_CTX_CANCELLED,
      -1004 OPLOG_ENTRY_NOT_FOUND, -1005 K8S_LEASE_OPERATION_ERROR, -1006 K8S_LEASE_NOT_FOUND,
      -1007 INCOMPLETE_OPLOG_CATCH_UP, -1010 UNAVAILABLE_IN_CURRENT_STATUS, -1011 UNAVAILABLE_IN_CURRENT_MODE,
      -1012 NOT_SUPPORTED, -1100 FILE_NOT_FOUND, -1101 FILE_OPEN_FAIL, -1102 FILE_READ_FAIL, -1103 FILE_WRITE_FAIL,
      -1104 FILE_INVALID_BUFFER, -1105 FILE_LOCK_FAIL, -1106 FILE_INVALID_HANDLE, -1200 BUCKET_NOT_FOUND,
      -1201 BUCKET_ALREADY_EXISTS, -1202 KEYS_EXCEED_BUCKET_LIMIT, -1203 KEYS_ULTRA_LIMIT, -1300 UNABLE_OFFLOAD,
      -1301 UNABLE_OFFLOADING, -1400 TASK_NOT_FOUND, -1401 TASK_PENDING_LIMIT_EXCEEDED, -1402 JOB_NOT_FOUND,
      -1500 SERIALIZE_UNSUPPORTED, -1501 SERIALIZE_FAIL, -1502 DESERIALIZE_FAIL, -1503 PERSISTENT_FAIL,
      -1600 DFS_NETWORK_TIMEOUT, -1601 DFS_SERVICE_UNAVAILABLE, -1602 DFS_QUOTA_EXCEEDED, -1603 DFS_PERMISSION_DENIED,
      -1604 DFS_STALE_HANDLE, -1605 DFS_PARTIAL_WRITE, -1700 TENANT_QUOTA_EXCEEDED, -1701 TENANT_NOT_REGISTERED,
      -1702 TENANT_NOT_EMPTY""";

  /** Constants of Gatun's own, which no library answers. */
  private static final Set<StoreCode> OURS = Set.of(StoreCode.UNKNOWN, StoreCode.PAGE_REJECTED);

  @Test
  @DisplayName("K3.15 every known code is one constant, and every constant a known code")
  void table() {
    Map<Integer, String> expected = new TreeMap<>(
        Arrays.stream(TABLE.strip().split(",\\s+")).map(entry -> entry.split(" "))
            .collect(Collectors.toMap(entry -> Integer.valueOf(entry[0]), entry -> entry[1])));
    Map<Integer, String> actual = new TreeMap<>(Arrays.stream(StoreCode.values()).filter(code -> !OURS.contains(code))
        .collect(Collectors.toMap(StoreCode::raw, Enum::name)));
    assertEquals(expected, actual);
    expected.forEach((raw, name) -> assertEquals(name, StoreCode.of(raw).name()));
  }

  @ParameterizedTest
  @ValueSource(longs = {-2, -11, -715, -4242, -99_999, Integer.MIN_VALUE, Long.MIN_VALUE})
  @DisplayName("K3.15 a code nobody knows is UNKNOWN, and keeps its number in the exception")
  void unknown(long raw) {
    assertEquals(StoreCode.UNKNOWN, StoreCode.of(raw));
    StoreException exception = new StoreException("get", raw, "key k");
    assertEquals(raw, exception.rawCode());
    assertEquals("get(key k) failed: UNKNOWN (" + raw + ")", exception.getMessage());
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 4096, Long.MAX_VALUE})
  @DisplayName("counts and lengths are no codes")
  void counts(long raw) {
    assertEquals(StoreCode.OK, StoreCode.of(raw));
  }

  @Test
  @DisplayName("what may succeed later says so; what was asked wrongly does not")
  void retryable() {
    assertTrue(StoreCode.NO_AVAILABLE_HANDLE.retryable());
    assertTrue(StoreCode.RPC_TIMEOUT.retryable());
    for (StoreCode never : new StoreCode[]{StoreCode.OK, StoreCode.OBJECT_NOT_FOUND, StoreCode.INVALID_KEY,
        StoreCode.INVALID_VERSION, StoreCode.UNKNOWN}) {
      assertTrue(!never.retryable(), never.name());
    }
  }
}
