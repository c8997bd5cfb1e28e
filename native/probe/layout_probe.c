/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints what this compiler makes of the ABI headers, as JSON: size, alignment and field offsets of each struct, widths
 * of the plain types, values of the constants. The bindings' layouts are compared with it.
 */
#include <inttypes.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gatun_cuda.h"
#include "gatun_loopback.h"
#include "gatun_verbs.h"
#include "mooncake_store.h"
#include "mooncake_transfer_engine.h"
#include "nixl_capi.h"

static const char* comma = "";

static void next(void) {
  printf("%s", comma);
  comma = ",";
}

static void begin_struct(const char* name, size_t size, size_t alignment) {
  next();
  printf("\n    \"%s\": {\"size\": %zu, \"alignment\": %zu, \"fields\": {", name, size, alignment);
  comma = "";
}

static void end_struct(void) {
  printf("}}");
  comma = ",";
}

#define BEGIN(s) begin_struct(#s, sizeof(struct s), alignof(struct s))
#define FIELD(s, f)                                                                                           \
  do {                                                                                                        \
    next();                                                                                                   \
    printf("\"%s\": {\"offset\": %zu, \"size\": %zu}", #f, offsetof(struct s, f), sizeof(((struct s*)0)->f)); \
  } while (0)
#define TYPE(t)                           \
  do {                                    \
    next();                               \
    printf("\"%s\": %zu", #t, sizeof(t)); \
  } while (0)
#define SIGNED(c)                                 \
  do {                                            \
    next();                                       \
    printf("\"%s\": %" PRId64, #c, (int64_t)(c)); \
  } while (0)

static void structs(void) {
  BEGIN(transfer_request);
  FIELD(transfer_request, opcode);
  FIELD(transfer_request, source);
  FIELD(transfer_request, target_id);
  FIELD(transfer_request, target_offset);
  FIELD(transfer_request, length);
  end_struct();
  BEGIN(transfer_status);
  FIELD(transfer_status, status);
  FIELD(transfer_status, transferred_bytes);
  end_struct();
  BEGIN(notify_msg);
  FIELD(notify_msg, name);
  FIELD(notify_msg, msg);
  end_struct();
  BEGIN(buffer_entry);
  FIELD(buffer_entry, addr);
  FIELD(buffer_entry, length);
  end_struct();
  BEGIN(nic_load_stat);
  FIELD(nic_load_stat, device_name);
  FIELD(nic_load_stat, inflight_bytes);
  FIELD(nic_load_stat, ewma_bandwidth_bps);
  end_struct();
  BEGIN(mooncake_replicate_config);
  FIELD(mooncake_replicate_config, replica_num);
  FIELD(mooncake_replicate_config, with_soft_pin);
  FIELD(mooncake_replicate_config, with_hard_pin);
  FIELD(mooncake_replicate_config, preferred_segments);
  FIELD(mooncake_replicate_config, preferred_segments_count);
  end_struct();
  BEGIN(gatun_loopback_census);
  FIELD(gatun_loopback_census, start_id);
  FIELD(gatun_loopback_census, role);
  FIELD(gatun_loopback_census, master_state);
  FIELD(gatun_loopback_census, key_count);
  FIELD(gatun_loopback_census, complete_count);
  FIELD(gatun_loopback_census, put_starts);
  FIELD(gatun_loopback_census, put_ends);
  FIELD(gatun_loopback_census, put_revokes);
  FIELD(gatun_loopback_census, removed_keys);
  FIELD(gatun_loopback_census, evicted_keys);
  FIELD(gatun_loopback_census, evictions);
  FIELD(gatun_loopback_census, allocated_bytes);
  FIELD(gatun_loopback_census, capacity_bytes);
  FIELD(gatun_loopback_census, largest_free_bytes);
  FIELD(gatun_loopback_census, segment_count);
  FIELD(gatun_loopback_census, store_count);
  end_struct();
  BEGIN(gatun_cuda_copy_attributes);
  FIELD(gatun_cuda_copy_attributes, source_order);
  FIELD(gatun_cuda_copy_attributes, source_kind);
  FIELD(gatun_cuda_copy_attributes, source_id);
  FIELD(gatun_cuda_copy_attributes, target_kind);
  FIELD(gatun_cuda_copy_attributes, target_id);
  FIELD(gatun_cuda_copy_attributes, flags);
  end_struct();
  BEGIN(nixl_capi_agent_config);
  FIELD(nixl_capi_agent_config, enable_prog_thread);
  FIELD(nixl_capi_agent_config, enable_listen_thread);
  FIELD(nixl_capi_agent_config, listen_port);
  FIELD(nixl_capi_agent_config, thread_sync);
  FIELD(nixl_capi_agent_config, num_workers);
  FIELD(nixl_capi_agent_config, pthr_delay_us);
  FIELD(nixl_capi_agent_config, lthr_delay_us);
  FIELD(nixl_capi_agent_config, capture_telemetry);
  end_struct();
  BEGIN(gatun_cuda_ipc_handle);
  FIELD(gatun_cuda_ipc_handle, bytes);
  end_struct();
  BEGIN(gatun_verbs_name);
  FIELD(gatun_verbs_name, text);
  end_struct();
  BEGIN(gatun_verbs_device);
  FIELD(gatun_verbs_device, firmware);
  FIELD(gatun_verbs_device, guid);
  FIELD(gatun_verbs_device, region_bytes_max);
  FIELD(gatun_verbs_device, region_count_max);
  FIELD(gatun_verbs_device, port_count);
  FIELD(gatun_verbs_device, failed_step);
  FIELD(gatun_verbs_device, reserved);
  end_struct();
  BEGIN(gatun_verbs_port);
  FIELD(gatun_verbs_port, state);
  FIELD(gatun_verbs_port, link_layer);
  FIELD(gatun_verbs_port, mtu_bytes);
  FIELD(gatun_verbs_port, mtu_bytes_max);
  FIELD(gatun_verbs_port, lid);
  FIELD(gatun_verbs_port, width);
  FIELD(gatun_verbs_port, speed);
  FIELD(gatun_verbs_port, physical_state);
  end_struct();
  BEGIN(gatun_verbs_gid);
  FIELD(gatun_verbs_gid, bytes);
  FIELD(gatun_verbs_gid, index);
  FIELD(gatun_verbs_gid, type);
  FIELD(gatun_verbs_gid, interface_index);
  end_struct();
}

static void types(void) {
  TYPE(transfer_engine_t);
  TYPE(transport_t);
  TYPE(mooncake_store_t);
  TYPE(segment_id_t);
  TYPE(segment_handle_t);
  TYPE(batch_id_t);
  TYPE(size_t);
  TYPE(int);
}

static void constants(void) {
  SIGNED(LOCAL_SEGMENT);
  SIGNED(INVALID_BATCH); /* all ones: -1 */
  SIGNED(OPCODE_READ);
  SIGNED(OPCODE_WRITE);
  SIGNED(STATUS_WAITING);
  SIGNED(STATUS_PENDING);
  SIGNED(STATUS_INVALID);
  SIGNED(STATUS_CANCELED);
  SIGNED(STATUS_COMPLETED);
  SIGNED(STATUS_TIMEOUT);
  SIGNED(STATUS_FAILED);
  SIGNED(GATUN_LOOPBACK_ABI_VERSION);
  SIGNED(GATUN_LOOPBACK_ROLE_LEADER);
  SIGNED(GATUN_LOOPBACK_FAULT_DELAY);
  SIGNED(GATUN_LOOPBACK_FAULT_FAIL);
  SIGNED(GATUN_LOOPBACK_FAULT_HANG);
  SIGNED(GATUN_LOOPBACK_FAULT_SKIP);
  SIGNED(GATUN_LOOPBACK_MASTER_UP);
  SIGNED(GATUN_LOOPBACK_MASTER_DOWN);
  SIGNED(GATUN_LOOPBACK_MASTER_FROZEN);
  SIGNED(GATUN_CUDA_ATTRIBUTE_COMPUTE_MAJOR);
  SIGNED(GATUN_CUDA_ATTRIBUTE_COMPUTE_MINOR);
  SIGNED(GATUN_CUDA_ATTRIBUTE_COPY_ENGINES);
  SIGNED(GATUN_CUDA_ATTRIBUTE_HOST_POINTER_OF_REGISTERED);
  SIGNED(GATUN_CUDA_ATTRIBUTE_MULTIPROCESSORS);
  SIGNED(GATUN_CUDA_ATTRIBUTE_UNIFIED_ADDRESSING);
  SIGNED(GATUN_CUDA_EVENT_DISABLE_TIMING);
  SIGNED(GATUN_CUDA_HOST_MAPPED);
  SIGNED(GATUN_CUDA_HOST_PORTABLE);
  SIGNED(GATUN_CUDA_IPC_HANDLE_BYTES);
  SIGNED(GATUN_CUDA_IPC_PEER_ACCESS);
  SIGNED(GATUN_CUDA_MEMORY_DEVICE);
  SIGNED(GATUN_CUDA_MEMORY_HOST);
  SIGNED(GATUN_CUDA_NOT_READY);
  SIGNED(GATUN_CUDA_POINTER_DEVICE_ORDINAL);
  SIGNED(GATUN_CUDA_POINTER_MEMORY_TYPE);
  SIGNED(GATUN_CUDA_SOURCE_ORDER_STREAM);
  SIGNED(GATUN_CUDA_STREAM_NON_BLOCKING);
  SIGNED(GATUN_CUDA_UUID_BYTES);
  SIGNED(GATUN_VERBS_ABI_VERSION);
  SIGNED(GATUN_VERBS_GID_INFINIBAND);
  SIGNED(GATUN_VERBS_GID_ROCE_V1);
  SIGNED(GATUN_VERBS_GID_ROCE_V2);
  SIGNED(GATUN_VERBS_GID_UNKNOWN);
  SIGNED(GATUN_VERBS_HAS_DMABUF);
  SIGNED(GATUN_VERBS_HAS_GID_TYPES);
  SIGNED(GATUN_VERBS_LINK_ETHERNET);
  SIGNED(GATUN_VERBS_LINK_INFINIBAND);
  SIGNED(GATUN_VERBS_NAME_BYTES);
  SIGNED(GATUN_VERBS_PORT_ACTIVE);
  SIGNED(GATUN_VERBS_STEP_DEREGISTER);
  SIGNED(GATUN_VERBS_STEP_DOMAIN);
  SIGNED(GATUN_VERBS_STEP_FIND);
  SIGNED(GATUN_VERBS_STEP_MEMORY);
  SIGNED(GATUN_VERBS_STEP_OPEN);
  SIGNED(GATUN_VERBS_STEP_QUERY);
  SIGNED(GATUN_VERBS_STEP_REGISTER);
  SIGNED(NIXL_CAPI_ERROR_BACKEND);
  SIGNED(NIXL_CAPI_ERROR_EXCEPTION);
  SIGNED(NIXL_CAPI_ERROR_INVALID_PARAM);
  SIGNED(NIXL_CAPI_ERROR_INVALID_STATE);
  SIGNED(NIXL_CAPI_ERROR_NOT_FOUND);
  SIGNED(NIXL_CAPI_ERROR_NO_TELEMETRY);
  SIGNED(NIXL_CAPI_IN_PROG);
  SIGNED(NIXL_CAPI_MEM_BLOCK);
  SIGNED(NIXL_CAPI_MEM_DRAM);
  SIGNED(NIXL_CAPI_MEM_FILE);
  SIGNED(NIXL_CAPI_MEM_OBJECT);
  SIGNED(NIXL_CAPI_MEM_VRAM);
  SIGNED(NIXL_CAPI_SUCCESS);
  SIGNED(NIXL_CAPI_THREAD_SYNC_NONE);
  SIGNED(NIXL_CAPI_THREAD_SYNC_RW);
  SIGNED(NIXL_CAPI_THREAD_SYNC_STRICT);
  SIGNED(NIXL_CAPI_XFER_OP_READ);
  SIGNED(NIXL_CAPI_XFER_OP_WRITE);
}

int main(void) {
  printf("{\n  \"structs\": {");
  structs();
  printf("\n  },\n  \"types\": {");
  comma = "";
  types();
  printf("},\n  \"constants\": {");
  comma = "";
  constants();
  printf("}\n}\n");
  return 0;
}
