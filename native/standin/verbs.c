/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for libibverbs, for tests on machines without RDMA: the same symbols over devices described in a text file
 * beside the library, named as it is with ".devices" behind it; without the file there are no devices. Each copy of the
 * library has devices of its own. A line has a word and settings, each without blanks:
 *
 *   list error=38                                    the list of devices is refused with this errno
 *   device name=mlx5_0 guid=0x... firmware=28.39     a device; also max_mr_size, max_mr
 *          register_max=65536                        larger registrations are refused with ENOMEM
 *          open=13 query=5 domain=12 register=14 deregister=16   errnos that these calls answer
 *   port   state=4 link=2 mtu=5 mtu_max=5 width=2 speed=64 physical=5 lid=0 gids=8 query=5    of the last device
 *   gid    index=3 bytes=<32 hex digits> type=2 interface=4                                   of the last port
 *
 * GATUN_STANDIN_OLD makes a library from before GID types and dma-buf.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibverbs.h"

#define EXPORT __attribute__((visibility("default")))
#define TEXT_BYTES 64
#define DEVICES_MAX 16
#define PORTS_MAX 4
#define GIDS_MAX 8

struct port {
  struct ibv_port_attr attributes;
  int query_error;
  int gid_count;
  struct ibv_gid_entry gids[GIDS_MAX];
};

struct ibv_device {
  atomic_int holders; /* its list, and open contexts */
  char name[TEXT_BYTES];
  char firmware[TEXT_BYTES];
  uint64_t guid;
  uint64_t region_bytes_max;
  uint64_t register_max;
  int region_count_max;
  int open_error, query_error, domain_error, register_error, deregister_error;
  int port_count;
  struct port ports[PORTS_MAX];
};

struct ibv_context {
  struct ibv_device* device;
};

struct ibv_pd {
  struct ibv_context* context;
};

struct ibv_mr {
  struct ibv_pd* domain;
};

static atomic_int live; /* lists, contexts, domains and regions that were not given back */

/* What was not given back, for tests that look for leaks. */
EXPORT int gatun_verbs_standin_live(void);
EXPORT int gatun_verbs_standin_live(void) { return atomic_load(&live); }

static void* acquire(size_t bytes) {
  void* made = calloc(1, bytes);
  if (made != NULL) atomic_fetch_add(&live, 1);
  return made;
}

static void release(void* made) {
  free(made);
  atomic_fetch_sub(&live, 1);
}

static int fail(int error) {
  errno = error;
  return error;
}

/* ---- The file ---- */

static const char* value_of(const char* setting, const char* key) {
  const size_t length = strlen(key);
  return strncmp(setting, key, length) == 0 && setting[length] == '=' ? setting + length + 1 : NULL;
}

struct number {
  const char* key;
  uint64_t* wide;
  int* narrow;
};

/* Whether the setting is one of the numbers. */
static int take_number(const char* setting, const struct number* numbers, int count) {
  for (int i = 0; i < count; i++) {
    const char* text = value_of(setting, numbers[i].key);
    if (text == NULL) continue;
    char* end;
    const uint64_t value = strtoull(text, &end, 0);
    if (*text == '\0' || *end != '\0') return 0;
    if (numbers[i].wide != NULL) *numbers[i].wide = value;
    else *numbers[i].narrow = (int)value;
    return 1;
  }
  return 0;
}

static int take_text(const char* setting, const char* key, char* target) {
  const char* text = value_of(setting, key);
  if (text == NULL || strlen(text) >= TEXT_BYTES) return 0;
  strcpy(target, text);
  return 1;
}

static int device_setting(struct ibv_device* device, const char* setting) {
  const struct number numbers[] = {
      {"guid", &device->guid, NULL},
      {"max_mr_size", &device->region_bytes_max, NULL},
      {"register_max", &device->register_max, NULL},
      {"max_mr", NULL, &device->region_count_max},
      {"open", NULL, &device->open_error},
      {"query", NULL, &device->query_error},
      {"domain", NULL, &device->domain_error},
      {"register", NULL, &device->register_error},
      {"deregister", NULL, &device->deregister_error},
  };
  return take_text(setting, "name", device->name) || take_text(setting, "firmware", device->firmware) ||
         take_number(setting, numbers, sizeof numbers / sizeof *numbers);
}

static int port_setting(struct port* port, const char* setting) {
  int width = port->attributes.active_width;
  int speed = port->attributes.active_speed;
  int physical = port->attributes.phys_state;
  int link = port->attributes.link_layer;
  int lid = port->attributes.lid;
  const struct number numbers[] = {
      {"state", NULL, &port->attributes.state},
      {"mtu", NULL, &port->attributes.active_mtu},
      {"mtu_max", NULL, &port->attributes.max_mtu},
      {"gids", NULL, &port->attributes.gid_tbl_len},
      {"query", NULL, &port->query_error},
      {"width", NULL, &width},
      {"speed", NULL, &speed},
      {"physical", NULL, &physical},
      {"link", NULL, &link},
      {"lid", NULL, &lid},
  };
  const int taken = take_number(setting, numbers, sizeof numbers / sizeof *numbers);
  port->attributes.active_width = (uint8_t)width;
  port->attributes.active_speed = (uint8_t)speed;
  port->attributes.phys_state = (uint8_t)physical;
  port->attributes.link_layer = (uint8_t)link;
  port->attributes.lid = (uint16_t)lid;
  return taken;
}

static int gid_setting(struct ibv_gid_entry* gid, const char* setting) {
  const char* text = value_of(setting, "bytes");
  if (text != NULL) {
    if (strlen(text) != 2 * sizeof gid->gid.raw) return 0;
    for (size_t i = 0; i < sizeof gid->gid.raw; i++) {
      unsigned int byte;
      if (sscanf(text + 2 * i, "%2x", &byte) != 1) return 0;
      gid->gid.raw[i] = (uint8_t)byte;
    }
    return 1;
  }
  int index = (int)gid->gid_index, type = (int)gid->gid_type, interface = (int)gid->ndev_ifindex;
  const struct number numbers[] = {
      {"index", NULL, &index}, {"type", NULL, &type}, {"interface", NULL, &interface}};
  const int taken = take_number(setting, numbers, 3);
  gid->gid_index = (uint32_t)index;
  gid->gid_type = (uint32_t)type;
  gid->ndev_ifindex = (uint32_t)interface;
  return taken;
}

struct reading {
  struct ibv_device** devices; /* room for DEVICES_MAX and the NULL behind them */
  int device_count;
  int list_error;
  int bad;
};

static struct ibv_device* last_device(struct reading* reading) {
  return reading->device_count == 0 ? NULL : reading->devices[reading->device_count - 1];
}

static struct port* last_port(struct reading* reading) {
  struct ibv_device* device = last_device(reading);
  return device == NULL || device->port_count == 0 ? NULL : &device->ports[device->port_count - 1];
}

/* Makes room for what a line's word announces; answers whether that is allowed there. */
static int begin(struct reading* reading, const char* word) {
  struct ibv_device* device = last_device(reading);
  struct port* port = last_port(reading);
  if (strcmp(word, "list") == 0) return 1;
  if (strcmp(word, "device") == 0) {
    if (reading->device_count == DEVICES_MAX) return 0;
    device = calloc(1, sizeof *device);
    if (device == NULL) return 0;
    atomic_init(&device->holders, 1);
    device->region_bytes_max = device->register_max = UINT64_MAX;
    device->region_count_max = 1 << 24;
    reading->devices[reading->device_count++] = device;
    return 1;
  }
  if (strcmp(word, "port") == 0) {
    if (device == NULL || device->port_count == PORTS_MAX) return 0;
    device->port_count++;
    return 1;
  }
  if (strcmp(word, "gid") != 0 || port == NULL || port->gid_count == GIDS_MAX) return 0;
  port->gid_count++;
  return 1;
}

static int set(struct reading* reading, const char* word, const char* setting) {
  const struct number error = {"error", NULL, &reading->list_error};
  switch (*word) {
    case 'l': return take_number(setting, &error, 1);
    case 'd': return device_setting(last_device(reading), setting);
    case 'p': return port_setting(last_port(reading), setting);
    default: {
      struct port* port = last_port(reading);
      return gid_setting(&port->gids[port->gid_count - 1], setting);
    }
  }
}

static void read_line(struct reading* reading, char* line) {
  char* rest;
  const char* word = strtok_r(line, " \n", &rest);
  if (word == NULL) return;
  if (!begin(reading, word)) {
    reading->bad = 1;
    return;
  }
  for (const char* setting = strtok_r(NULL, " \n", &rest); setting != NULL; setting = strtok_r(NULL, " \n", &rest)) {
    if (!set(reading, word, setting)) reading->bad = 1;
  }
}

static void read_devices(struct reading* reading) {
  Dl_info self;
  char path[4096];
  if (dladdr((void*)&gatun_verbs_standin_live, &self) == 0) return;
  snprintf(path, sizeof path, "%s.devices", self.dli_fname);
  FILE* file = fopen(path, "re");
  if (file == NULL) return;
  char line[512];
  while (fgets(line, sizeof line, file) != NULL) read_line(reading, line);
  fclose(file);
}

/* ---- The library ---- */

static void let_go(struct ibv_device* device) {
  if (atomic_fetch_sub(&device->holders, 1) == 1) free(device);
}

EXPORT void ibv_free_device_list(struct ibv_device** list) {
  for (struct ibv_device** device = list; *device != NULL; device++) let_go(*device);
  release(list);
}

EXPORT struct ibv_device** ibv_get_device_list(int* count) {
  struct reading reading = {acquire((DEVICES_MAX + 1) * sizeof(struct ibv_device*)), 0, 0, 0};
  if (reading.devices == NULL) return NULL;
  read_devices(&reading);
  if (reading.bad || reading.list_error != 0) {
    ibv_free_device_list(reading.devices);
    errno = reading.bad ? EBADMSG : reading.list_error;
    return NULL;
  }
  if (count != NULL) *count = reading.device_count;
  return reading.devices;
}

EXPORT const char* ibv_get_device_name(struct ibv_device* device) { return device->name; }

EXPORT uint64_t ibv_get_device_guid(struct ibv_device* device) { return htobe64(device->guid); }

EXPORT struct ibv_context* ibv_open_device(struct ibv_device* device) {
  if (device->open_error != 0) {
    errno = device->open_error;
    return NULL;
  }
  struct ibv_context* context = acquire(sizeof *context);
  if (context == NULL) return NULL;
  context->device = device;
  atomic_fetch_add(&device->holders, 1);
  return context;
}

EXPORT int ibv_close_device(struct ibv_context* context) {
  let_go(context->device);
  release(context);
  return 0;
}

EXPORT int ibv_query_device(struct ibv_context* context, struct ibv_device_attr* attributes) {
  const struct ibv_device* device = context->device;
  if (device->query_error != 0) return fail(device->query_error);
  memset(attributes, 0, sizeof *attributes);
  memcpy(attributes->fw_ver, device->firmware, sizeof device->firmware);
  attributes->node_guid = htobe64(device->guid);
  attributes->max_mr_size = device->region_bytes_max;
  attributes->max_mr = device->region_count_max;
  attributes->phys_port_cnt = (uint8_t)device->port_count;
  return 0;
}

static const struct port* port_of(struct ibv_context* context, uint32_t port) {
  return port < 1 || (int)port > context->device->port_count ? NULL : &context->device->ports[port - 1];
}

/* As the exported function of the real library: 48 bytes, and -1 with errno set. */
EXPORT int ibv_query_port(struct ibv_context* context, uint8_t number, struct ibv_port_attr* attributes) {
  const struct port* port = port_of(context, number);
  if (port == NULL || port->query_error != 0) {
    errno = port == NULL ? EINVAL : port->query_error;
    return -1;
  }
  memcpy(attributes, &port->attributes, offsetof(struct ibv_port_attr, room));
  return 0;
}

static const struct ibv_gid_entry* gid_of(const struct port* port, int index) {
  for (int i = 0; i < port->gid_count; i++) {
    if ((int)port->gids[i].gid_index == index) return &port->gids[i];
  }
  return NULL;
}

EXPORT int ibv_query_gid(struct ibv_context* context, uint8_t number, int index, struct ibv_gid* gid) {
  const struct port* port = port_of(context, number);
  if (port == NULL || index < 0 || index >= port->attributes.gid_tbl_len) return fail(EINVAL);
  const struct ibv_gid_entry* entry = gid_of(port, index);
  memset(gid, 0, sizeof *gid);
  if (entry != NULL) *gid = entry->gid;
  return 0;
}

EXPORT struct ibv_pd* ibv_alloc_pd(struct ibv_context* context) {
  if (context->device->domain_error != 0) {
    errno = context->device->domain_error;
    return NULL;
  }
  struct ibv_pd* domain = acquire(sizeof *domain);
  if (domain != NULL) domain->context = context;
  return domain;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd* domain) {
  release(domain);
  return 0;
}

EXPORT struct ibv_mr* ibv_reg_mr(struct ibv_pd* domain, void* address, size_t bytes, int access) {
  const struct ibv_device* device = domain->context->device;
  int error = device->register_error;
  if (error == 0 && bytes > device->register_max) error = ENOMEM;
  if (error == 0 && (address == NULL || (access & ~7) != 0)) error = EINVAL;
  if (error != 0) {
    errno = error;
    return NULL;
  }
  struct ibv_mr* region = acquire(sizeof *region);
  if (region != NULL) region->domain = domain;
  return region;
}

EXPORT int ibv_dereg_mr(struct ibv_mr* region) {
  const int error = region->domain->context->device->deregister_error;
  if (error != 0) return fail(error);
  release(region);
  return 0;
}

#ifndef GATUN_STANDIN_OLD
EXPORT int _ibv_query_gid_ex(struct ibv_context* context, uint32_t number, uint32_t index, struct ibv_gid_entry* entry,
                             uint32_t flags, size_t entry_bytes) {
  const struct port* port = port_of(context, number);
  if (port == NULL || flags != 0 || entry_bytes != sizeof *entry) return EINVAL;
  const struct ibv_gid_entry* found = gid_of(port, (int)index);
  if (found == NULL) return ENODATA;
  *entry = *found;
  entry->port_num = number;
  return 0;
}

/* Only looked for. */
EXPORT struct ibv_mr* ibv_reg_dmabuf_mr(struct ibv_pd* domain, uint64_t offset, size_t bytes, uint64_t iova, int file,
                                        int access) {
  (void)domain, (void)offset, (void)bytes, (void)iova, (void)file, (void)access;
  errno = EOPNOTSUPP;
  return NULL;
}
#endif
