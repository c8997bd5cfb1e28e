/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbols that libgatun_loopback.so exports beside the store and engine ABIs: a census of a pool (what a
 * master's admin interface shows) and, for tests, faults, a virtual clock and mutants.
 *
 * A "pool" is the in-process counterpart of a master: the master address given to mooncake_store_setup names
 * it, every store of the process set up with the same name meets in it, and it lives while one is attached.
 *
 * Codes are those of the store ABI. Census functions answer -101 for a pool that does not exist, and see a
 * pool even while it is simulated down or frozen. No function here grants a lease, and none crashes on NULL:
 * -1. All may be called from any thread.
 */
#ifndef GATUN_ABI_LOOPBACK_H
#define GATUN_ABI_LOOPBACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GATUN_LOOPBACK_ABI_VERSION 1
int gatun_loopback_abi_version(void);

/* ---- Census ---- */

#define GATUN_LOOPBACK_ROLE_LEADER 1 /* a pool has no other role */

/* 120 bytes, alignment 8 */
struct gatun_loopback_census {
  uint64_t start_id;        /* @0   differs for every start of a pool, restarts included; never 0 */
  int32_t role;             /* @8   GATUN_LOOPBACK_ROLE_LEADER */
  int32_t master_state;     /* @12  GATUN_LOOPBACK_MASTER_* */
  uint64_t key_count;       /* @16  keys, puts in flight included */
  uint64_t complete_count;  /* @24  readable keys only */
  uint64_t put_starts;      /* @32  put starts that reached the pool, refused ones included; never decreases */
  uint64_t put_ends;        /* @40  put ends that reached the pool */
  uint64_t put_revokes;     /* @48 */
  uint64_t removed_keys;    /* @56  by remove, regex and remove_all */
  uint64_t evicted_keys;    /* @64 */
  uint64_t evictions;       /* @72  eviction passes that evicted something */
  uint64_t allocated_bytes; /* @80  memory not yet reusable, rounded up to 64 an object */
  uint64_t capacity_bytes;  /* @88 */
  uint64_t largest_free_bytes; /* @96 largest object that fits without eviction */
  uint64_t segment_count;   /* @104 */
  uint64_t store_count;     /* @112 stores attached */
};
typedef struct gatun_loopback_census gatun_loopback_census_t;

int gatun_loopback_census(const char *pool, gatun_loopback_census_t *out);

/* Complete keys, oldest first within a slice of the index, as NUL-terminated strings back to back.
 * *cursor: 0 to begin; becomes UINT64_MAX when no key is left. Answers how many keys were written; -10 when the next
 * key does not fit into an empty buffer (grow it and call again, the cursor has not moved). Keys put or removed
 * between two calls may or may not be listed; every other key is listed once. */
int64_t gatun_loopback_list_keys(const char *pool, uint64_t *cursor, char *buffer, size_t size);

/* Bytes of a complete object, -704 absent, -703 put in flight. */
int64_t gatun_loopback_query_key(const char *pool, const char *key);

/* Live handles, for leak checks. */
int64_t gatun_loopback_live_stores(void);
int64_t gatun_loopback_live_engines(void);
int64_t gatun_loopback_live_batches(void);

/* ---- Tests only: everything below is process-wide and off until called ---- */

/* Undoes all of it: disarms and releases every fault, switches the mutant off, sets the limits to their defaults, brings
 * every master up. The clock alone keeps what it was advanced by: it never goes back. */
void gatun_loopback_reset(void);

/* Faults. Points, and what FAIL (argument = code to answer) and SKIP mean there:
 *   setup                 FAIL: setup answers the code, the store stays not set up
 *   health                FAIL: health_check answers the code
 *   put.before_start      per key. FAIL: nothing done. SKIP: nothing done, 0 answered
 *   put.before_copy       per key, key in flight. FAIL: put revoked. SKIP: bytes not copied
 *   put.before_end        per key, key in flight. FAIL and SKIP: the put stays in flight, as if its client was gone
 *   get.before_lookup     per key. FAIL: answers the code
 *   get.before_copy       per key, lease granted, object held. FAIL: answers the code. SKIP: bytes not copied
 *   get.before_return     per key, bytes copied, object released. FAIL: answers the code
 *   exists, size          per key
 *   remove.before, remove_regex.before, remove_all.before    SKIP: nothing removed, 0 answered
 *   remove_all.middle     after half of the index (regex too). FAIL: answers the code, the first half is gone
 *   register, unregister  store buffers
 *   engine.create         FAIL: NULL
 *   engine.open_segment, engine.register, engine.submit, engine.status, engine.free_batch, engine.notify
 *                         FAIL: answers the code. SKIP: 0 answered, nothing done
 *   engine.copy           per task, on a worker thread. FAIL: task FAILED. SKIP: COMPLETED, bytes not copied
 *   engine.progress       per call to another process. FAIL: the code takes the place of the 30,000 ms after which a peer
 *                         that takes or gives nothing counts as silent
 * DELAY (argument = milliseconds of real time) and HANG work at every point. */
#define GATUN_LOOPBACK_FAULT_DELAY 1
#define GATUN_LOOPBACK_FAULT_FAIL 2
#define GATUN_LOOPBACK_FAULT_HANG 3
#define GATUN_LOOPBACK_FAULT_SKIP 4

/* Arms a point for the next `count` hits (0: until disarmed). Arming again replaces. 0; -600 unknown point or action. */
int gatun_loopback_fault_arm(const char *point, int action, int64_t argument, uint64_t count);
/* The same, letting the first `after` hits pass. */
int gatun_loopback_fault_arm_after(const char *point, int action, int64_t argument, uint64_t count, uint64_t after);
/* Disarms the point and lets every thread that hangs there go on. */
int gatun_loopback_fault_release(const char *point);
/* Hits since it was armed, passed ones included; threads that hang there now. */
int64_t gatun_loopback_fault_hits(const char *point);
int64_t gatun_loopback_fault_hanging(const char *point);
/* Name of point i, NULL past the last. */
const char *gatun_loopback_fault_point(int index);

/* A master that answers, that refuses (-900 from every call that asks it), that does not answer until it is up again. */
#define GATUN_LOOPBACK_MASTER_UP 0
#define GATUN_LOOPBACK_MASTER_DOWN 1
#define GATUN_LOOPBACK_MASTER_FROZEN 2
int gatun_loopback_master_set(const char *pool, int state);
/* Calls that hang in a frozen master now. */
int64_t gatun_loopback_master_hanging(const char *pool);
/* All keys lost, counters at 0, new start id, segments mounted again and empty. Running puts end with -704. */
int gatun_loopback_master_restart(const char *pool);
/* A segment owner that expired and came back: its objects are gone. */
int gatun_loopback_segment_lost(const char *pool, const char *hostname);

/* Time as leases, pins and abandoned puts see it: the monotonic clock plus everything advanced so far. */
int gatun_loopback_clock_advance(int64_t millis);
/* Limits; negative restores the default. Defaults: lease 10,000 ms; soft pin 1,800,000 ms; abandoned put may be taken
 * over after 30,000 ms and is dropped after 600,000 ms; watermark 90 % of capacity. */
int gatun_loopback_lease_set(int64_t millis);
int gatun_loopback_soft_pin_set(int64_t millis);
int gatun_loopback_put_discard_set(int64_t millis);
int gatun_loopback_watermark_set(int64_t percent);

/* Mutants: known wrong behaviours, one at a time, ids 1..count; 0 switches off. A contract suite must kill each. */
int gatun_loopback_mutant(int id);
int gatun_loopback_mutant_count(void);
/* Name of mutant id, NULL when there is none. */
const char *gatun_loopback_mutant_name(int id);

#ifdef __cplusplus
}
#endif

#endif
