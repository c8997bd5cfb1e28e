package dev.gatun.backend;

import java.util.HashMap;
import java.util.Map;

/**
 * The result codes of Mooncake's store ABI, one constant for each native code; two codes never fold into one.
 *
 * <p>Counts and lengths are not codes: ask {@link #of(long)} only about zero or a negative result. A code that a newer
 * library invents becomes {@link #UNKNOWN}; its number stays beside it wherever a code is reported.
 *
 * <p>Source: the ErrorCode table of Mooncake 0.3.12/0.3.13.
 */
public enum StoreCode {
  /** Success; of a put also: the key was there already and nothing was written. */
  OK(0),
  /** An argument the C shim refused, or a C++ exception it caught. */
  INTERNAL_ERROR(-1),
  /** A native buffer was too short. */
  BUFFER_OVERFLOW(-10),
  /** A shard number outside the index; a fault of the library. */
  SHARD_INDEX_OUT_OF_RANGE(-100),
  /** The master does not know the memory segment. */
  SEGMENT_NOT_FOUND(-101),
  /** A memory segment of that name is mounted already. */
  SEGMENT_ALREADY_EXISTS(-102),
  /** The master does not know this client, or has expired it. */
  CLIENT_NOT_FOUND(-103),
  /** No space, or no segment that could give any; an eviction has been started, try again later. */
  NO_AVAILABLE_HANDLE(-200),
  /** Client and master speak different versions. */
  INVALID_VERSION(-300),
  /** The master refuses the key. */
  INVALID_KEY(-400),
  /** Writing an object failed. */
  WRITE_FAIL(-500),
  /** Overloaded: a bad argument, a buffer that is too short or momentarily full, or a store that is not set up. */
  INVALID_PARAMS(-600),
  /** Another client owns the object. */
  ILLEGAL_CLIENT(-601),
  /** The object is not in a state to be written. */
  INVALID_WRITE(-700),
  /** The object is not in a state to be read. */
  INVALID_READ(-701),
  /** A replica in an impossible state. */
  INVALID_REPLICA(-702),
  /** A put of this key is in flight. */
  REPLICA_IS_NOT_READY(-703),
  /** No such object. */
  OBJECT_NOT_FOUND(-704),
  /** The object exists; put calls turn this into success. */
  OBJECT_ALREADY_EXISTS(-705),
  /** A read lease protects the object; removal needs force or patience. */
  OBJECT_HAS_LEASE(-706),
  /** The read outlasted its lease: the bytes that arrived must not be used. */
  LEASE_EXPIRED(-707),
  /** A copy or move of the object is running. */
  OBJECT_HAS_REPLICATION_TASK(-708),
  /** No copy or move of the object is running. */
  OBJECT_NO_REPLICATION_TASK(-709),
  /** No such replica. */
  REPLICA_NOT_FOUND(-710),
  /** The replica exists. */
  REPLICA_ALREADY_EXISTS(-711),
  /** The replica is gone. */
  REPLICA_IS_GONE(-712),
  /** The replica is not in this process's memory. */
  REPLICA_NOT_IN_LOCAL_MEMORY(-713),
  /** The replica is in use. */
  OBJECT_REPLICA_BUSY(-714),
  /** The data transfer failed or ran out of time; native code may still touch the buffer. */
  TRANSFER_FAIL(-800),
  /** The object's checksum does not match its bytes. */
  CHECKSUM_MISMATCH(-801),
  /** The master could not be reached. */
  RPC_FAIL(-900),
  /** The master did not answer in time. */
  RPC_TIMEOUT(-901),
  /** High-availability backend or mode: see the master's log. */
  ETCD_OPERATION_ERROR(-1000),
  /** High-availability backend or mode: see the master's log. */
  ETCD_KEY_NOT_EXIST(-1001),
  /** High-availability backend or mode: see the master's log. */
  ETCD_TRANSACTION_FAIL(-1002),
  /** High-availability backend or mode: see the master's log. */
  ETCD_CTX_CANCELLED(-1003),
  /** High-availability backend or mode: see the master's log. */
  OPLOG_ENTRY_NOT_FOUND(-1004),
  /** High-availability backend or mode: see the master's log. */
  K8S_LEASE_OPERATION_ERROR(-1005),
  /** High-availability backend or mode: see the master's log. */
  K8S_LEASE_NOT_FOUND(-1006),
  /** High-availability backend or mode: see the master's log. */
  INCOMPLETE_OPLOG_CATCH_UP(-1007),
  /** High-availability backend or mode: see the master's log. */
  UNAVAILABLE_IN_CURRENT_STATUS(-1010),
  /** High-availability backend or mode: see the master's log. */
  UNAVAILABLE_IN_CURRENT_MODE(-1011),
  /** High-availability backend or mode: see the master's log. */
  NOT_SUPPORTED(-1012),
  /** File tier of the store: see the owner's log. */
  FILE_NOT_FOUND(-1100),
  /** File tier of the store: see the owner's log. */
  FILE_OPEN_FAIL(-1101),
  /** File tier of the store: see the owner's log. */
  FILE_READ_FAIL(-1102),
  /** File tier of the store: see the owner's log. */
  FILE_WRITE_FAIL(-1103),
  /** File tier of the store: see the owner's log. */
  FILE_INVALID_BUFFER(-1104),
  /** File tier of the store: see the owner's log. */
  FILE_LOCK_FAIL(-1105),
  /** File tier of the store: see the owner's log. */
  FILE_INVALID_HANDLE(-1106),
  /** Bucket storage of the store: see the owner's log. */
  BUCKET_NOT_FOUND(-1200),
  /** Bucket storage of the store: see the owner's log. */
  BUCKET_ALREADY_EXISTS(-1201),
  /** Bucket storage of the store: see the owner's log. */
  KEYS_EXCEED_BUCKET_LIMIT(-1202),
  /** Bucket storage of the store: see the owner's log. */
  KEYS_ULTRA_LIMIT(-1203),
  /** Offload of objects to the file tier. */
  UNABLE_OFFLOAD(-1300),
  /** Offload of objects to the file tier. */
  UNABLE_OFFLOADING(-1301),
  /** Copy, move or drain tasks of the master. */
  TASK_NOT_FOUND(-1400),
  /** Copy, move or drain tasks of the master. */
  TASK_PENDING_LIMIT_EXCEEDED(-1401),
  /** Copy, move or drain tasks of the master. */
  JOB_NOT_FOUND(-1402),
  /** Snapshots and serialisation in the master. */
  SERIALIZE_UNSUPPORTED(-1500),
  /** Snapshots and serialisation in the master. */
  SERIALIZE_FAIL(-1501),
  /** Snapshots and serialisation in the master. */
  DESERIALIZE_FAIL(-1502),
  /** Snapshots and serialisation in the master. */
  PERSISTENT_FAIL(-1503),
  /** Distributed file system tier. */
  DFS_NETWORK_TIMEOUT(-1600),
  /** Distributed file system tier. */
  DFS_SERVICE_UNAVAILABLE(-1601),
  /** Distributed file system tier. */
  DFS_QUOTA_EXCEEDED(-1602),
  /** Distributed file system tier. */
  DFS_PERMISSION_DENIED(-1603),
  /** Distributed file system tier. */
  DFS_STALE_HANDLE(-1604),
  /** Distributed file system tier. */
  DFS_PARTIAL_WRITE(-1605),
  /** Tenants and their quotas. */
  TENANT_QUOTA_EXCEEDED(-1700),
  /** Tenants and their quotas. */
  TENANT_NOT_REGISTERED(-1701),
  /** Tenants and their quotas. */
  TENANT_NOT_EMPTY(-1702),
  /** Gatun's own verdict, which no library gives: bytes arrived, but not those of the page that was asked for. */
  PAGE_REJECTED(-2_000_000_001),
  /** A number this version of Gatun does not know; the raw code is reported beside it. */
  UNKNOWN(Integer.MIN_VALUE);

  private static final Map<Long, StoreCode> BY_RAW = new HashMap<>();

  static {
    for (StoreCode code : values())
      BY_RAW.put((long) code.raw, code);
  }

  private final int raw;

  StoreCode(int raw) {
    this.raw = raw;
  }

  /** {@return the number the C ABI uses; {@link Integer#MIN_VALUE} for {@link #UNKNOWN}} */
  public int raw() {
    return raw;
  }

  /**
   * {@return the constant for a native result; any positive number is {@link #OK}, since counts and lengths share the
   * channel}
   *
   * @param raw a result as the C function returned it
   */
  public static StoreCode of(long raw) {
    if (raw >= 0) return OK;
    return BY_RAW.getOrDefault(raw, UNKNOWN);
  }

  /**
   * {@return whether the same call may succeed later with no change by the caller: no space, put still in flight, lease
   * held or run out, transfer failed, master unreachable}
   */
  public boolean retryable() {
    return switch (this) {
      case NO_AVAILABLE_HANDLE, REPLICA_IS_NOT_READY, OBJECT_HAS_LEASE, LEASE_EXPIRED, OBJECT_REPLICA_BUSY,
          OBJECT_HAS_REPLICATION_TASK, TRANSFER_FAIL, RPC_FAIL, RPC_TIMEOUT, UNAVAILABLE_IN_CURRENT_STATUS ->
        true;
      default -> false;
    };
  }
}
