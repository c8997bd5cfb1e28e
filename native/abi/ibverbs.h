/* SPDX-License-Identifier: Apache-2.0
 *
 * Our declarations of the calls that Gatun makes into libibverbs.so.1, as that library exports them (IBVERBS_1.1 and
 * later; sizes and offsets compared with rdma-core 44). Little endian, LP64.
 *
 * Only the shim (verbs/shim.c) and the stand-in (standin/verbs.c) include this: Java speaks to the shim. Nothing links
 * to the library. Calls that answer a pointer leave the reason for NULL in errno; the others answer 0 or, by function,
 * an errno or -1 with errno set.
 */
#ifndef GATUN_ABI_IBVERBS_H
#define GATUN_ABI_IBVERBS_H

#include <stddef.h>
#include <stdint.h>

/* Handles: only passed on. */
struct ibv_device;
struct ibv_context;
struct ibv_pd;
struct ibv_mr;

/* 232 bytes, alignment 8 */
struct ibv_device_attr {
  char fw_ver[64];         /* @0   text */
  uint64_t node_guid;      /* @64  network byte order */
  uint64_t sys_image_guid; /* @72 */
  uint64_t max_mr_size;    /* @80  bytes of one memory region; all ones: no limit */
  uint64_t page_size_cap;  /* @88 */
  uint32_t unread_1[10];   /* @96  identities, limits of queues */
  int32_t max_mr;          /* @136 memory regions */
  uint8_t unread_2[87];    /* @140 limits of what Gatun does not use */
  uint8_t phys_port_cnt;   /* @227 */
};

/* The exported ibv_query_port fills the first 48 bytes, whatever newer headers declare; room is left for more. */
struct ibv_port_attr {
  int32_t state;           /* @0  4: active */
  int32_t max_mtu;         /* @4  1 to 5: 256 to 4096 bytes */
  int32_t active_mtu;      /* @8 */
  int32_t gid_tbl_len;     /* @12 */
  uint32_t port_cap_flags; /* @16 */
  uint32_t max_msg_sz;     /* @20 */
  uint32_t unread_1[2];    /* @24 error counters */
  uint16_t pkey_tbl_len;   /* @32 */
  uint16_t lid;            /* @34 0 on Ethernet */
  uint16_t sm_lid;         /* @36 */
  uint8_t unread_2[5];     /* @38 */
  uint8_t active_width;    /* @43 lanes, as a bit: 1, 2 (four), 4 (eight), 8 (twelve), 16 (two) */
  uint8_t active_speed;    /* @44 of one lane, as a bit */
  uint8_t phys_state;      /* @45 5: the link is up */
  uint8_t link_layer;      /* @46 1: InfiniBand, 2: Ethernet */
  uint8_t flags;           /* @47 */
  uint8_t room[80];        /* @48 */
};

/* 16 bytes, alignment 8: a union with two 64-bit integers in the library's own words */
struct ibv_gid {
  _Alignas(8) uint8_t raw[16];
};

/* 32 bytes, alignment 8 */
struct ibv_gid_entry {
  struct ibv_gid gid;    /* @0 */
  uint32_t gid_index;    /* @16 */
  uint32_t port_num;     /* @20 */
  uint32_t gid_type;     /* @24 0: InfiniBand, 1: RoCE v1, 2: RoCE v2 */
  uint32_t ndev_ifindex; /* @28 the network interface, 0 for none */
};

#define IBV_ACCESS_LOCAL_WRITE 1
#define IBV_ACCESS_REMOTE_WRITE 2
#define IBV_ACCESS_REMOTE_READ 4

/* NULL where the kernel has no RDMA (ENOSYS) or on error. The list ends with NULL; devices that were opened outlive it. */
struct ibv_device** ibv_get_device_list(int* count);
void ibv_free_device_list(struct ibv_device** list);
const char* ibv_get_device_name(struct ibv_device* device);
uint64_t ibv_get_device_guid(struct ibv_device* device); /* network byte order */

struct ibv_context* ibv_open_device(struct ibv_device* device);
int ibv_close_device(struct ibv_context* context);
int ibv_query_device(struct ibv_context* context, struct ibv_device_attr* attributes);
int ibv_query_port(struct ibv_context* context, uint8_t port, struct ibv_port_attr* attributes); /* ports count from 1 */
int ibv_query_gid(struct ibv_context* context, uint8_t port, int index, struct ibv_gid* gid);
/* From IBVERBS_1.11 on. Answers an errno, ENODATA for an entry that is not in use. */
int _ibv_query_gid_ex(struct ibv_context* context, uint32_t port, uint32_t index, struct ibv_gid_entry* entry,
                      uint32_t flags, size_t entry_bytes);

struct ibv_pd* ibv_alloc_pd(struct ibv_context* context);
int ibv_dealloc_pd(struct ibv_pd* domain);
struct ibv_mr* ibv_reg_mr(struct ibv_pd* domain, void* address, size_t bytes, int access);
int ibv_dereg_mr(struct ibv_mr* region);
/* From IBVERBS_1.12 on; Gatun only looks whether it is there. */
struct ibv_mr* ibv_reg_dmabuf_mr(struct ibv_pd* domain, uint64_t offset, size_t bytes, uint64_t iova, int file,
                                 int access);

#endif
