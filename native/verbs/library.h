/* SPDX-License-Identifier: Apache-2.0
 * The libraries that were opened: each a table of functions that stays as it is. */
#pragma once

#include <stdint.h>

#include "ibverbs.h"

#pragma GCC visibility push(default)
#include "gatun_verbs.h"
#pragma GCC visibility pop

struct verbs {
  struct ibv_device** (*get_device_list)(int* count);
  void (*free_device_list)(struct ibv_device** list);
  const char* (*get_device_name)(struct ibv_device* device);
  uint64_t (*get_device_guid)(struct ibv_device* device);
  struct ibv_context* (*open_device)(struct ibv_device* device);
  int (*close_device)(struct ibv_context* context);
  int (*query_device)(struct ibv_context* context, struct ibv_device_attr* attributes);
  int (*query_port)(struct ibv_context* context, uint8_t port, struct ibv_port_attr* attributes);
  int (*query_gid)(struct ibv_context* context, uint8_t port, int index, struct ibv_gid* gid);
  struct ibv_pd* (*alloc_pd)(struct ibv_context* context);
  int (*dealloc_pd)(struct ibv_pd* domain);
  struct ibv_mr* (*reg_mr)(struct ibv_pd* domain, void* address, size_t bytes, int access);
  int (*dereg_mr)(struct ibv_mr* region);
  /* NULL in older libraries */
  int (*query_gid_ex)(struct ibv_context* context, uint32_t port, uint32_t index, struct ibv_gid_entry* entry,
                      uint32_t flags, size_t entry_bytes);
  int has_dmabuf;
};

/* NULL for a number that was not given out. */
const struct verbs* verbs_of(int32_t library);
