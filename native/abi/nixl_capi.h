/* SPDX-License-Identifier: Apache-2.0
 *
 * Our declarations of the calls that Gatun makes into libnixl_capi.so, as that library exports them (1.5.1; checked
 * against its symbol table and its machine code). LP64, little endian.
 *
 * Every handle is declared as a 64-bit integer: on the 64-bit Linux ABIs it is passed as a pointer is, and a caller in
 * Java then holds a long instead of an object for each call. So are addresses that a call only hands on. Pointers are
 * pointers where the call itself reads or writes through them before it returns. 0 is no handle.
 *
 * Every function but nixl_capi_is_stub answers a status, below. What the library checks, and what it does not:
 *  - a handle or pointer of 0 is answered with INVALID_PARAM; any other wrong handle is dereferenced
 *  - exceptions are caught and answered with BACKEND; a failed assertion aborts the process
 *  - several C++ codes (not posted, not allowed, disconnected, cancelled) arrive as BACKEND
 *  - descriptor lists and request lists are copied: free them when the call that takes them returns
 *  - memory named by a request is in use until its status is 0 or negative. Releasing a request that is in flight
 *    answers 0 and cancels nothing that was handed to the network: bytes may still arrive afterwards.
 */
#ifndef GATUN_ABI_NIXL_CAPI_H
#define GATUN_ABI_NIXL_CAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t nixl_handle;  /* agent, backend, list, request, map, parameters or options; 0 is none */
typedef uint64_t nixl_address; /* memory that a transfer moves; never touched during the call that names it */

/* ---- Status ---- */

#define NIXL_CAPI_SUCCESS 0
#define NIXL_CAPI_IN_PROG 1
#define NIXL_CAPI_ERROR_INVALID_PARAM (-1)
#define NIXL_CAPI_ERROR_BACKEND (-2)
#define NIXL_CAPI_ERROR_INVALID_STATE (-3)
#define NIXL_CAPI_ERROR_EXCEPTION (-4)
#define NIXL_CAPI_ERROR_NO_TELEMETRY (-5)
#define NIXL_CAPI_ERROR_NOT_FOUND (-6) /* peer unknown or forgotten, or memory not registered */

/* ---- Kinds of memory, directions, locking inside an agent ---- */

#define NIXL_CAPI_MEM_DRAM 0
#define NIXL_CAPI_MEM_VRAM 1
#define NIXL_CAPI_MEM_BLOCK 2
#define NIXL_CAPI_MEM_OBJECT 3
#define NIXL_CAPI_MEM_FILE 4

#define NIXL_CAPI_XFER_OP_READ 0  /* remote -> local */
#define NIXL_CAPI_XFER_OP_WRITE 1 /* local -> remote */

#define NIXL_CAPI_THREAD_SYNC_NONE 0   /* one thread at a time, the caller sees to it */
#define NIXL_CAPI_THREAD_SYNC_STRICT 1 /* one lock */
#define NIXL_CAPI_THREAD_SYNC_RW 2     /* transfers share the lock */

/* 40 bytes, alignment 8. Delays in microseconds. */
struct nixl_capi_agent_config {
  bool enable_prog_thread;   /* @0  a thread of the library drives transfers */
  bool enable_listen_thread; /* @1  a thread of the library listens for metadata */
  int listen_port;           /* @4 */
  int thread_sync;           /* @8 */
  unsigned int num_workers;  /* @12 not read by 1.5.1 */
  uint64_t pthr_delay_us;    /* @16 */
  uint64_t lthr_delay_us;    /* @24 */
  bool capture_telemetry;    /* @32 */
};

bool nixl_capi_is_stub(void); /* true from the library that stands in where NIXL is not installed */

/* ---- Agents and their backends. Names are copied. ---- */

int nixl_capi_create_configured_agent(const char *name, const struct nixl_capi_agent_config *config,
                                      nixl_handle *agent);
int nixl_capi_destroy_agent(nixl_handle agent); /* after everything that was made with it */
int nixl_capi_get_available_plugins(nixl_handle agent, nixl_handle *names);
int nixl_capi_string_list_size(nixl_handle list, size_t *size);
int nixl_capi_string_list_get(nixl_handle list, size_t index, const char **text); /* owned by the list */
int nixl_capi_destroy_string_list(nixl_handle list);
int nixl_capi_create_params(nixl_handle *params);
int nixl_capi_params_add(nixl_handle params, const char *key, const char *value);
int nixl_capi_destroy_params(nixl_handle params);
int nixl_capi_create_backend(nixl_handle agent, const char *plugin, nixl_handle params, nixl_handle *backend);
int nixl_capi_get_backend_params(nixl_handle agent, nixl_handle backend, nixl_handle *memories, nixl_handle *params);
int nixl_capi_mem_list_size(nixl_handle list, size_t *size);
int nixl_capi_mem_list_get(nixl_handle list, size_t index, int *memory);
int nixl_capi_destroy_mem_list(nixl_handle list);
int nixl_capi_destroy_backend(nixl_handle backend); /* the handle; the backend goes with its agent */

/* ---- Options of a call ---- */

int nixl_capi_create_opt_args(nixl_handle *options);
int nixl_capi_opt_args_add_backend(nixl_handle options, nixl_handle backend);
int nixl_capi_opt_args_set_notif_msg(nixl_handle options, const void *message, size_t bytes); /* copied */
int nixl_capi_opt_args_set_has_notif(nixl_handle options, bool has_notification);
int nixl_capi_opt_args_set_skip_desc_merge(nixl_handle options, bool skip);
int nixl_capi_destroy_opt_args(nixl_handle options);

/* ---- Memory. Deregister with the descriptors that were registered. ---- */

int nixl_capi_create_reg_dlist(int memory, nixl_handle *list);
int nixl_capi_reg_dlist_add_desc(nixl_handle list, nixl_address address, size_t bytes, uint64_t device,
                                 const void *metadata, size_t metadata_bytes);
int nixl_capi_destroy_reg_dlist(nixl_handle list);
int nixl_capi_register_mem(nixl_handle agent, nixl_handle list, nixl_handle options);
int nixl_capi_deregister_mem(nixl_handle agent, nixl_handle list, nixl_handle options);

/* ---- Metadata: how to reach an agent and the memory it has registered so far. ---- */

int nixl_capi_get_local_md(nixl_handle agent, void **blob, size_t *bytes); /* free() it */
int nixl_capi_load_remote_md(nixl_handle agent, const void *blob, size_t bytes, char **name); /* free() the name */
int nixl_capi_check_remote_md(nixl_handle agent, const char *name, nixl_handle list); /* list 0: the agent alone */
int nixl_capi_invalidate_remote_md(nixl_handle agent, const char *name);
int nixl_capi_agent_make_connection(nixl_handle agent, const char *name, nixl_handle options);

/* ---- Descriptor lists. Prepared ones belong to one side: "" is this agent, else the name of a loaded one. ---- */

int nixl_capi_create_xfer_dlist(int memory, nixl_handle *list);
int nixl_capi_xfer_dlist_add_desc(nixl_handle list, nixl_address address, size_t bytes, uint64_t device);
int nixl_capi_xfer_dlist_clear(nixl_handle list);
int nixl_capi_xfer_dlist_desc_count(nixl_handle list, size_t *count);
int nixl_capi_destroy_xfer_dlist(nixl_handle list);
int nixl_capi_prep_xfer_dlist(nixl_handle agent, const char *side, nixl_handle list, nixl_handle *prepared,
                              nixl_handle options);
int nixl_capi_release_xfer_dlist_handle(nixl_handle agent, nixl_handle prepared);

/* ---- Requests: make or create, post, ask until terminal, release, destroy. ---- */

int nixl_capi_make_xfer_req(nixl_handle agent, int operation, nixl_handle local, const int *local_indices,
                            size_t local_count, nixl_handle remote, const int *remote_indices, size_t remote_count,
                            nixl_handle *request, nixl_handle options);
int nixl_capi_create_xfer_req(nixl_handle agent, int operation, nixl_handle local, nixl_handle remote,
                              const char *name, nixl_handle *request, nixl_handle options);
int nixl_capi_post_xfer_req(nixl_handle agent, nixl_handle request, nixl_handle options);
int nixl_capi_get_xfer_status(nixl_handle agent, nixl_handle request);
int nixl_capi_release_xfer_req(nixl_handle agent, nixl_handle request);
int nixl_capi_destroy_xfer_req(nixl_handle request); /* after its release: what remains of the handle */

/* ---- Notifications. Texts and messages that are read out belong to the map. ---- */

int nixl_capi_gen_notif(nixl_handle agent, const char *name, const void *message, size_t bytes, nixl_handle options);
int nixl_capi_create_notif_map(nixl_handle *map);
int nixl_capi_get_notifs(nixl_handle agent, nixl_handle map, nixl_handle options); /* adds to the map */
int nixl_capi_notif_map_size(nixl_handle map, size_t *agents);
int nixl_capi_notif_map_get_agent_at(nixl_handle map, size_t index, const char **name); /* an index past the end: UB */
int nixl_capi_notif_map_get_notifs_size(nixl_handle map, const char *name, size_t *messages);
int nixl_capi_notif_map_get_notif(nixl_handle map, const char *name, size_t index, const void **message,
                                  size_t *bytes);
int nixl_capi_notif_map_clear(nixl_handle map);
int nixl_capi_destroy_notif_map(nixl_handle map);

#ifdef __cplusplus
}
#endif

#endif
