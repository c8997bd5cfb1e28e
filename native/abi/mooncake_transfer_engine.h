/* SPDX-License-Identifier: Apache-2.0
 *
 * The C ABI of a Mooncake transfer engine (27 functions), declared by this project from the documented and
 * measured facts of that ABI. LP64, little endian, natural alignment.
 *
 * Two code spaces. "N" functions answer 0 or a negative code, "P" functions 0 or a positive one; both are
 * named below. Strings are copied before a call returns; memory named by a request stays in use until its
 * task was polled to a terminal status.
 */
#ifndef GATUN_ABI_MOONCAKE_TRANSFER_ENGINE_H
#define GATUN_ABI_MOONCAKE_TRANSFER_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *transfer_engine_t;
typedef void *transport_t;
typedef int32_t segment_id_t;
typedef int32_t segment_handle_t;
typedef uint64_t batch_id_t;

#define LOCAL_SEGMENT 0
#define INVALID_BATCH UINT64_MAX

#define OPCODE_READ 0  /* target -> source */
#define OPCODE_WRITE 1 /* source -> target */

/* transfer_status.status. Terminal: INVALID, CANCELED, COMPLETED, FAILED; TIMEOUT is not. */
#define STATUS_WAITING 0
#define STATUS_PENDING 1
#define STATUS_INVALID 2
#define STATUS_CANCELED 3
#define STATUS_COMPLETED 4
#define STATUS_TIMEOUT 5
#define STATUS_FAILED 6

/* 40 bytes, alignment 8. target_offset is an absolute address in the peer, not an offset from 0. */
struct transfer_request {
  int opcode;             /* @0 */
  void *source;           /* @8  local memory */
  segment_id_t target_id; /* @16 */
  uint64_t target_offset; /* @24 */
  uint64_t length;        /* @32 */
};
typedef struct transfer_request transfer_request_t;

/* 16 bytes, alignment 8 */
struct transfer_status {
  int status;                 /* @0 */
  uint64_t transferred_bytes; /* @8 */
};
typedef struct transfer_status transfer_status_t;

/* 16 bytes, alignment 8. Passed by value: two integer registers on x86-64 and AArch64. */
struct notify_msg {
  char *name; /* @0 */
  char *msg;  /* @8 */
};
typedef struct notify_msg notify_msg_t;

/* 16 bytes, alignment 8 */
struct buffer_entry {
  void *addr;    /* @0 */
  size_t length; /* @8 */
};
typedef struct buffer_entry buffer_entry_t;

/* 80 bytes, alignment 8 */
struct nic_load_stat {
  char device_name[64];      /* @0 */
  uint64_t inflight_bytes;   /* @64 */
  double ewma_bandwidth_bps; /* @72 */
};
typedef struct nic_load_stat nic_load_stat_t;

/* Engine. NULL from create is any failure. */
transfer_engine_t createTransferEngine(const char *metadata_conn_string, const char *local_server_name,
                                       const char *ip_or_host_name, uint64_t rpc_port, int auto_discover);
void destroyTransferEngine(transfer_engine_t engine);
int discoverTopology(transfer_engine_t engine);                                        /* N */
int getLocalIpAndPort(transfer_engine_t engine, char *buffer, size_t size);            /* truncates silently */
transport_t installTransport(transfer_engine_t engine, const char *protocol, void **args);
int uninstallTransport(transfer_engine_t engine, const char *protocol);

/* Segments: an id >= 0 (0 is the engine's own) or -1. */
segment_id_t openSegment(transfer_engine_t engine, const char *segment_name);
segment_id_t openSegmentNoCache(transfer_engine_t engine, const char *segment_name);
int closeSegment(transfer_engine_t engine, segment_id_t segment_id);
int warmupEfaSegment(transfer_engine_t engine, const char *segment_name);
int removeLocalSegment(transfer_engine_t engine, const char *segment_name);            /* N */

/* Memory. N: -1 invalid argument, -3 not registered, -7 overlap. */
int registerLocalMemory(transfer_engine_t engine, void *addr, size_t length, const char *location,
                        int remote_accessible);
int unregisterLocalMemory(transfer_engine_t engine, void *addr);
int registerLocalMemoryBatch(transfer_engine_t engine, buffer_entry_t *buffers, size_t count, const char *location);
int unregisterLocalMemoryBatch(transfer_engine_t engine, void **addrs, size_t count);

/* Batches. P: 1 invalid argument, 2 over capacity, 3 source not registered, 4 busy, 8 no transport. */
batch_id_t allocateBatchID(transfer_engine_t engine, size_t batch_size);
int submitTransfer(transfer_engine_t engine, batch_id_t batch_id, struct transfer_request *requests, size_t count);
int submitTransferWithNotify(transfer_engine_t engine, batch_id_t batch_id, struct transfer_request *requests,
                             size_t count, notify_msg_t message);
int getTransferStatus(transfer_engine_t engine, batch_id_t batch_id, size_t task_id, struct transfer_status *status);
int freeBatchID(transfer_engine_t engine, batch_id_t batch_id);

/* Notifications. The array from getNotifsFromEngine goes back through freeNotifsMsgBuf with the same size. */
notify_msg_t *getNotifsFromEngine(transfer_engine_t engine, int *size);
int freeNotifsMsgBuf(notify_msg_t *messages, int size);
int genNotifyInEngine(transfer_engine_t engine, uint64_t target_id, notify_msg_t message); /* N */

/* Reports and the rest. */
int syncSegmentCache(transfer_engine_t engine);
int getNicLoadStats(transfer_engine_t engine, nic_load_stat_t *stats, size_t *count); /* out: total available */
void enableGracefulShutdown(transfer_engine_t engine); /* replaces signal handlers: never call it in a JVM */
int showLinks(transfer_engine_t engine, char *buffer, size_t size, int json);

#ifdef __cplusplus
}
#endif

#endif
