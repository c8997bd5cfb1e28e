/* SPDX-License-Identifier: Apache-2.0
 *
 * What libgatun_verbs.so exports: libibverbs' answers about RDMA devices, as numbers and plain structs. The library is
 * opened at run time, never linked to; of its calls some are macros over versioned symbols and answer through errno,
 * which no caller outside C can rely on.
 *
 * No call keeps anything open: each finds the device by its name, opens it, asks and closes it again. Results are 0 or
 * more, or a negated errno; a NULL, an unknown library, a name that is too long or a size of 0 is -EINVAL, a device that
 * is not there (any more) -ENODEV. All calls may be made from any thread and may block in the kernel for milliseconds.
 */
#ifndef GATUN_ABI_VERBS_H
#define GATUN_ABI_VERBS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GATUN_VERBS_ABI_VERSION 1
int32_t gatun_verbs_abi_version(void);

/* ---- Libraries ---- */

#define GATUN_VERBS_LIBRARIES_MAX 8

/* Opens a library, for the life of the process: a path, or a name for the dynamic linker to find. Answers its number, 1
 * or more, the same one each time; -ENOENT if the linker refuses it and -ENOSYS if it lacks functions, reason saying
 * which, cut off to its size; -EMFILE beyond GATUN_VERBS_LIBRARIES_MAX. */
int32_t gatun_verbs_open_library(const char *library, char *reason, uint64_t reason_bytes);

#define GATUN_VERBS_HAS_GID_TYPES 1 /* the type and the network interface of a GID; IBVERBS_1.11 */
#define GATUN_VERBS_HAS_DMABUF 2    /* registration of dma-buf memory, such as that of GPUs; IBVERBS_1.12 */
int32_t gatun_verbs_features(int32_t library);

/* ---- Devices ---- */

#define GATUN_VERBS_NAME_BYTES 64 /* NUL included */

/* 64 bytes, alignment 1 */
struct gatun_verbs_name {
  char text[GATUN_VERBS_NAME_BYTES]; /* @0 */
};

/* Answers how many there are, which may be more than max, the room in names. -ENOSYS where the kernel has no RDMA. */
int32_t gatun_verbs_devices(int32_t library, struct gatun_verbs_name *names, int32_t max);

/* ---- One device ---- */

#define GATUN_VERBS_STEP_FIND 1
#define GATUN_VERBS_STEP_OPEN 2
#define GATUN_VERBS_STEP_QUERY 3
#define GATUN_VERBS_STEP_MEMORY 4
#define GATUN_VERBS_STEP_DOMAIN 5
#define GATUN_VERBS_STEP_REGISTER 6
#define GATUN_VERBS_STEP_DEREGISTER 7

#define GATUN_VERBS_FIRMWARE_BYTES 64 /* NUL included */

/* 96 bytes, alignment 8 */
struct gatun_verbs_device {
  char firmware[GATUN_VERBS_FIRMWARE_BYTES]; /* @0 */
  uint64_t guid;             /* @64 */
  uint64_t region_bytes_max; /* @72 bytes of one memory region; all ones: no limit */
  int32_t region_count_max;  /* @80 */
  int32_t port_count;        /* @84 */
  int32_t failed_step;       /* @88 GATUN_VERBS_STEP_* of an error, else 0 */
  int32_t reserved;          /* @92 0 */
};

int32_t gatun_verbs_query_device(int32_t library, const char *name, struct gatun_verbs_device *device);

#define GATUN_VERBS_PORT_ACTIVE 4
#define GATUN_VERBS_LINK_INFINIBAND 1
#define GATUN_VERBS_LINK_ETHERNET 2

/* 32 bytes, alignment 4. Numbers as libibverbs has them. */
struct gatun_verbs_port {
  int32_t state;          /* @0  0 none, 1 down, 2 init, 3 armed, 4 active, 5 active but deferred */
  int32_t link_layer;     /* @4  GATUN_VERBS_LINK_*, 0 unspecified */
  int32_t mtu_bytes;      /* @8  in use; 0 if the library's number is unknown */
  int32_t mtu_bytes_max;  /* @12 */
  int32_t lid;            /* @16 0 on Ethernet */
  int32_t width;          /* @20 lanes, as a bit */
  int32_t speed;          /* @24 of one lane, as a bit */
  int32_t physical_state; /* @28 5: the link is up */
};

/* Ports count from 1. */
int32_t gatun_verbs_query_port(int32_t library, const char *name, int32_t port, struct gatun_verbs_port *answer);

#define GATUN_VERBS_GID_BYTES 16
#define GATUN_VERBS_GID_UNKNOWN (-1)
#define GATUN_VERBS_GID_INFINIBAND 0
#define GATUN_VERBS_GID_ROCE_V1 1
#define GATUN_VERBS_GID_ROCE_V2 2

/* 28 bytes, alignment 4 */
struct gatun_verbs_gid {
  uint8_t bytes[GATUN_VERBS_GID_BYTES]; /* @0 */
  int32_t index;           /* @16 */
  int32_t type;            /* @20 GATUN_VERBS_GID_* */
  int32_t interface_index; /* @24 index of the network interface, 0 for none */
};

/* The entries of a port's table that are in use. Answers how many, which may be more than max, the room in gids. */
int32_t gatun_verbs_query_gids(int32_t library, const char *name, int32_t port, struct gatun_verbs_gid *gids,
                               int32_t max);

/* ---- A registration, to see whether it works ---- */

/* Maps fresh memory, registers it for remote reads and writes, and undoes both. failed_step receives the
 * GATUN_VERBS_STEP_* of an error, else 0; may be NULL. Memory that cannot be deregistered stays mapped. */
int32_t gatun_verbs_try_register(int32_t library, const char *name, uint64_t bytes, int32_t *failed_step);

#ifdef __cplusplus
}
#endif

#endif
