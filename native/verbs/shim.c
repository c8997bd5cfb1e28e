/* SPDX-License-Identifier: Apache-2.0
 * The questions about devices: each opens what it needs and closes it again. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "library.h"

/* What is read, where the library's own headers have it. */
_Static_assert(sizeof(struct ibv_device_attr) == 232, "ibv_device_attr");
_Static_assert(offsetof(struct ibv_device_attr, max_mr_size) == 80, "max_mr_size");
_Static_assert(offsetof(struct ibv_device_attr, max_mr) == 136, "max_mr");
_Static_assert(offsetof(struct ibv_device_attr, phys_port_cnt) == 227, "phys_port_cnt");
_Static_assert(offsetof(struct ibv_port_attr, lid) == 34, "lid");
_Static_assert(offsetof(struct ibv_port_attr, active_width) == 43, "active_width");
_Static_assert(offsetof(struct ibv_port_attr, link_layer) == 46, "link_layer");
_Static_assert(offsetof(struct ibv_port_attr, room) == 48, "room");
_Static_assert(sizeof(struct ibv_gid) == 16, "ibv_gid");
_Static_assert(sizeof(struct ibv_gid_entry) == 32, "ibv_gid_entry");

#define MTU_CODE_MAX 5         /* 4096 bytes */
#define PORTS_MAX 255          /* a port is a byte */
#define GID_TABLE_MAX (1 << 16) /* tables have up to some thousand entries; bounds a table length that makes no sense */

/* For calls that fail with errno, and for those that should have set it. */
static int32_t failure(void) { return errno > 0 ? -errno : -EIO; }

/* For calls that answer an errno, or -1 with errno set. */
static int32_t failure_of(int answer) { return answer > 0 ? -answer : failure(); }

static int bad_name(const char* name) {
  return name == NULL || *name == '\0' || strnlen(name, GATUN_VERBS_NAME_BYTES) == GATUN_VERBS_NAME_BYTES;
}

static void copy_text(char* target, const char* source, size_t bytes) {
  const size_t length = strnlen(source, bytes - 1);
  memcpy(target, source, length);
  memset(target + length, 0, bytes - length);
}

static int32_t list(const struct verbs* verbs, struct ibv_device*** devices, int* count) {
  *count = 0;
  errno = 0;
  *devices = verbs->get_device_list(count);
  return *devices == NULL ? failure() : 0;
}

int32_t gatun_verbs_devices(int32_t library, struct gatun_verbs_name* names, int32_t max) {
  const struct verbs* verbs = verbs_of(library);
  if (verbs == NULL || max < 0 || (names == NULL && max > 0)) return -EINVAL;
  struct ibv_device** devices;
  int count;
  const int32_t listed = list(verbs, &devices, &count);
  if (listed != 0) return listed;
  for (int i = 0; i < count && i < max; i++) {
    const char* name = verbs->get_device_name(devices[i]);
    copy_text(names[i].text, name == NULL ? "" : name, sizeof names[i].text);
  }
  verbs->free_device_list(devices);
  return count;
}

/* Answers 0 and an open context, or an error and the step that it happened in. */
static int32_t open_named(const struct verbs* verbs, const char* name, struct ibv_context** context, uint64_t* guid,
                          int32_t* step) {
  *step = GATUN_VERBS_STEP_FIND;
  struct ibv_device** devices;
  int count;
  const int32_t listed = list(verbs, &devices, &count);
  if (listed != 0) return listed;
  int32_t result = -ENODEV;
  for (int i = 0; i < count; i++) {
    const char* found = verbs->get_device_name(devices[i]);
    if (found == NULL || strcmp(found, name) != 0) continue;
    *guid = be64toh(verbs->get_device_guid(devices[i]));
    *step = GATUN_VERBS_STEP_OPEN;
    errno = 0;
    *context = verbs->open_device(devices[i]);
    result = *context == NULL ? failure() : 0;
    break;
  }
  verbs->free_device_list(devices);
  if (result == 0) *step = 0;
  return result;
}

int32_t gatun_verbs_query_device(int32_t library, const char* name, struct gatun_verbs_device* device) {
  const struct verbs* verbs = verbs_of(library);
  if (verbs == NULL || device == NULL || bad_name(name)) return -EINVAL;
  memset(device, 0, sizeof *device);
  struct ibv_context* context;
  int32_t result = open_named(verbs, name, &context, &device->guid, &device->failed_step);
  if (result != 0) return result;
  struct ibv_device_attr attributes = {0};
  errno = 0;
  const int answer = verbs->query_device(context, &attributes);
  if (answer != 0) {
    result = failure_of(answer);
    device->failed_step = GATUN_VERBS_STEP_QUERY;
  } else {
    copy_text(device->firmware, attributes.fw_ver, sizeof device->firmware);
    device->region_bytes_max = attributes.max_mr_size;
    device->region_count_max = attributes.max_mr;
    device->port_count = attributes.phys_port_cnt;
  }
  verbs->close_device(context);
  return result;
}

static int32_t mtu_bytes(int32_t code) { return code < 1 || code > MTU_CODE_MAX ? 0 : 128 << code; }

static int32_t port_attributes(const struct verbs* verbs, struct ibv_context* context, int32_t port,
                               struct ibv_port_attr* attributes) {
  memset(attributes, 0, sizeof *attributes);
  errno = 0;
  const int answer = verbs->query_port(context, (uint8_t)port, attributes);
  return answer == 0 ? 0 : failure_of(answer);
}

int32_t gatun_verbs_query_port(int32_t library, const char* name, int32_t port, struct gatun_verbs_port* out) {
  const struct verbs* verbs = verbs_of(library);
  if (verbs == NULL || out == NULL || bad_name(name) || port < 1 || port > PORTS_MAX) return -EINVAL;
  memset(out, 0, sizeof *out);
  struct ibv_context* context;
  uint64_t guid;
  int32_t step;
  int32_t result = open_named(verbs, name, &context, &guid, &step);
  if (result != 0) return result;
  struct ibv_port_attr attributes;
  result = port_attributes(verbs, context, port, &attributes);
  verbs->close_device(context);
  if (result != 0) return result;
  out->state = attributes.state;
  out->link_layer = attributes.link_layer;
  out->mtu_bytes = mtu_bytes(attributes.active_mtu);
  out->mtu_bytes_max = mtu_bytes(attributes.max_mtu);
  out->lid = attributes.lid;
  out->width = attributes.active_width;
  out->speed = attributes.active_speed;
  out->physical_state = attributes.phys_state;
  return 0;
}

/* Whether the entry is in use. */
static int read_gid(const struct verbs* verbs, struct ibv_context* context, int32_t port, int index,
                    struct gatun_verbs_gid* gid) {
  static const uint8_t none[GATUN_VERBS_GID_BYTES];
  gid->index = index;
  gid->type = GATUN_VERBS_GID_UNKNOWN;
  gid->interface_index = 0;
  if (verbs->query_gid_ex != NULL) {
    struct ibv_gid_entry entry = {0};
    const int answer = verbs->query_gid_ex(context, (uint32_t)port, (uint32_t)index, &entry, 0, sizeof entry);
    if (answer == 0) {
      memcpy(gid->bytes, entry.gid.raw, sizeof gid->bytes);
      gid->type = (int32_t)entry.gid_type;
      gid->interface_index = (int32_t)entry.ndev_ifindex;
      return memcmp(gid->bytes, none, sizeof none) != 0;
    }
    if (answer == ENODATA) return 0;
  }
  struct ibv_gid plain = {{0}}; /* also where the kernel is older than the library */
  if (verbs->query_gid(context, (uint8_t)port, index, &plain) != 0) return 0;
  memcpy(gid->bytes, plain.raw, sizeof gid->bytes);
  return memcmp(gid->bytes, none, sizeof none) != 0;
}

int32_t gatun_verbs_query_gids(int32_t library, const char* name, int32_t port, struct gatun_verbs_gid* gids,
                               int32_t max) {
  const struct verbs* verbs = verbs_of(library);
  if (verbs == NULL || max < 0 || (gids == NULL && max > 0) || bad_name(name) || port < 1 || port > PORTS_MAX) {
    return -EINVAL;
  }
  struct ibv_context* context;
  uint64_t guid;
  int32_t step;
  int32_t result = open_named(verbs, name, &context, &guid, &step);
  if (result != 0) return result;
  struct ibv_port_attr attributes;
  result = port_attributes(verbs, context, port, &attributes);
  const int table = attributes.gid_tbl_len > GID_TABLE_MAX ? GID_TABLE_MAX : attributes.gid_tbl_len;
  for (int index = 0; result >= 0 && index < table; index++) {
    struct gatun_verbs_gid gid;
    if (!read_gid(verbs, context, port, index, &gid)) continue;
    if (result < max) gids[result] = gid;
    result++;
  }
  verbs->close_device(context);
  return result;
}

/* Registers and deregisters; answers 0, or an error and its step. */
static int32_t register_once(const struct verbs* verbs, struct ibv_context* context, void* memory, size_t bytes,
                             int32_t* step) {
  *step = GATUN_VERBS_STEP_DOMAIN;
  errno = 0;
  struct ibv_pd* domain = verbs->alloc_pd(context);
  if (domain == NULL) return failure();
  int32_t result = 0;
  *step = GATUN_VERBS_STEP_REGISTER;
  errno = 0;
  struct ibv_mr* region = verbs->reg_mr(domain, memory, bytes,
                                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
  if (region == NULL) {
    result = failure();
  } else {
    *step = GATUN_VERBS_STEP_DEREGISTER;
    errno = 0;
    const int answer = verbs->dereg_mr(region);
    if (answer != 0) return failure_of(answer); /* the region holds the domain and the memory */
    *step = 0;
  }
  verbs->dealloc_pd(domain);
  return result;
}

int32_t gatun_verbs_try_register(int32_t library, const char* name, uint64_t bytes, int32_t* failed_step) {
  int32_t unread;
  int32_t* step = failed_step == NULL ? &unread : failed_step;
  *step = 0;
  const struct verbs* verbs = verbs_of(library);
  if (verbs == NULL || bad_name(name) || bytes == 0 || bytes > INT64_MAX) return -EINVAL;
  struct ibv_context* context;
  uint64_t guid;
  int32_t result = open_named(verbs, name, &context, &guid, step);
  if (result != 0) return result;
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    result = failure();
    *step = GATUN_VERBS_STEP_MEMORY;
  } else {
    result = register_once(verbs, context, memory, bytes, step);
    if (*step != GATUN_VERBS_STEP_DEREGISTER) munmap(memory, bytes);
  }
  verbs->close_device(context);
  return result;
}
