/* SPDX-License-Identifier: Apache-2.0
 *
 * The C ABI of a Mooncake store (19 functions), declared by this project from the documented and measured
 * facts of that ABI: symbol names, argument order, widths, struct layout. Any library that exports these
 * symbols can stand behind it; libgatun_loopback.so is ours.
 *
 * LP64, little endian, natural alignment. Every call is synchronous: when it returns, the caller owns all
 * of its buffers and strings again. Strings are NUL-terminated bytes in any encoding.
 */
#ifndef GATUN_ABI_MOONCAKE_STORE_H
#define GATUN_ABI_MOONCAKE_STORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *mooncake_store_t;

/* 32 bytes, alignment 8. A NULL configuration means one replica, no pins, no preference. */
struct mooncake_replicate_config {
  size_t replica_num;               /* @0  at least 1; best effort, one replica a segment name */
  int with_soft_pin;                /* @8  evicted only after ordinary objects */
  int with_hard_pin;                /* @12 never evicted */
  const char **preferred_segments;  /* @16 names as mooncake_store_get_hostname answers them */
  size_t preferred_segments_count;  /* @24 */
};
typedef struct mooncake_replicate_config mooncake_replicate_config_t;

/* Lifecycle. setup and destroy exclude every other call on the same handle. */
mooncake_store_t mooncake_store_create(void);
void mooncake_store_destroy(mooncake_store_t store);
int mooncake_store_setup(mooncake_store_t store, const char *local_hostname, const char *metadata_server,
                         uint64_t global_segment_size, uint64_t local_buffer_size, const char *protocol,
                         const char *device_name, const char *master_server_addr);
int mooncake_store_init_all(mooncake_store_t store, const char *protocol, const char *device_name,
                            uint64_t mount_segment_size);
/* Its own scale: 0 healthy, 1 not set up, 2 master unreachable, -1 NULL handle. */
int mooncake_store_health_check(mooncake_store_t store);

/* Puts: 0 (also when the key is already there and nothing was written) or a negative code. */
int mooncake_store_put(mooncake_store_t store, const char *key, const void *value, size_t size,
                       const mooncake_replicate_config_t *config);
int mooncake_store_put_from(mooncake_store_t store, const char *key, void *buffer, size_t size,
                            const mooncake_replicate_config_t *config);
int mooncake_store_batch_put_from(mooncake_store_t store, const char **keys, void **buffers, const size_t *sizes,
                                  size_t count, const mooncake_replicate_config_t *config, int *results);

/* Gets: the object's bytes, or a negative code. Only whole objects. */
int64_t mooncake_store_get_into(mooncake_store_t store, const char *key, void *buffer, size_t size);
int mooncake_store_batch_get_into(mooncake_store_t store, const char **keys, void **buffers, const size_t *sizes,
                                  size_t count, int64_t *results);

/* 1 present, 0 absent or a put in flight, negative code. These grant a lease, as a get does. */
int mooncake_store_is_exist(mooncake_store_t store, const char *key);
int mooncake_store_batch_is_exist(mooncake_store_t store, const char **keys, size_t count, int *results);
int64_t mooncake_store_get_size(mooncake_store_t store, const char *key);
int mooncake_store_get_hostname(mooncake_store_t store, char *buffer, size_t size);

/* Removals. The last two answer how many objects they removed, or a negative code. */
int mooncake_store_remove(mooncake_store_t store, const char *key, int force);
int64_t mooncake_store_remove_by_regex(mooncake_store_t store, const char *pattern, int force);
int64_t mooncake_store_remove_all(mooncake_store_t store, int force);

/* Caller memory that RDMA may touch; it must outlive the registration. */
int mooncake_store_register_buffer(mooncake_store_t store, void *buffer, size_t size);
int mooncake_store_unregister_buffer(mooncake_store_t store, void *buffer);

#ifdef __cplusplus
}
#endif

#endif
