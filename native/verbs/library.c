/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct {
  void* handle;
  struct verbs functions;
} libraries[GATUN_VERBS_LIBRARIES_MAX];
static atomic_int library_count; /* raised once an entry is complete */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

struct symbol {
  const char* name;
  void** function;
};

const struct verbs* verbs_of(int32_t library) {
  const int count = atomic_load_explicit(&library_count, memory_order_acquire);
  return library < 1 || library > count ? NULL : &libraries[library - 1].functions;
}

static void say(char* reason, uint64_t bytes, const char* text) {
  if (reason != NULL && bytes > 0) snprintf(reason, bytes, "%s", text);
}

/* Answers how many are missing and lists them in text. */
static int resolve(void* handle, struct verbs* functions, char* text, size_t text_bytes) {
  const struct symbol required[] = {
      {"ibv_get_device_list", (void**)&functions->get_device_list},
      {"ibv_free_device_list", (void**)&functions->free_device_list},
      {"ibv_get_device_name", (void**)&functions->get_device_name},
      {"ibv_get_device_guid", (void**)&functions->get_device_guid},
      {"ibv_open_device", (void**)&functions->open_device},
      {"ibv_close_device", (void**)&functions->close_device},
      {"ibv_query_device", (void**)&functions->query_device},
      {"ibv_query_port", (void**)&functions->query_port},
      {"ibv_query_gid", (void**)&functions->query_gid},
      {"ibv_alloc_pd", (void**)&functions->alloc_pd},
      {"ibv_dealloc_pd", (void**)&functions->dealloc_pd},
      {"ibv_reg_mr", (void**)&functions->reg_mr},
      {"ibv_dereg_mr", (void**)&functions->dereg_mr},
  };
  int missing = 0;
  size_t used = 0;
  for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
    *required[i].function = dlsym(handle, required[i].name);
    if (*required[i].function != NULL) continue;
    if (used < text_bytes) {
      used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", missing == 0 ? "" : ", ", required[i].name);
    }
    missing++;
  }
  *(void**)&functions->query_gid_ex = dlsym(handle, "_ibv_query_gid_ex");
  functions->has_dmabuf = dlsym(handle, "ibv_reg_dmabuf_mr") != NULL;
  return missing;
}

/* With the lock held. */
static int32_t keep(void* handle, char* reason, uint64_t reason_bytes) {
  const int count = atomic_load_explicit(&library_count, memory_order_relaxed);
  for (int i = 0; i < count; i++) {
    if (libraries[i].handle == handle) return i + 1;
  }
  if (count == GATUN_VERBS_LIBRARIES_MAX) return -EMFILE;
  char missing[512]; /* holds the names of all functions */
  if (resolve(handle, &libraries[count].functions, missing, sizeof missing) > 0) {
    say(reason, reason_bytes, missing);
    return -ENOSYS;
  }
  libraries[count].handle = handle;
  atomic_store_explicit(&library_count, count + 1, memory_order_release);
  return count + 1;
}

int32_t gatun_verbs_open_library(const char* library, char* reason, uint64_t reason_bytes) {
  say(reason, reason_bytes, "");
  if (library == NULL || *library == '\0') return -EINVAL;
  pthread_mutex_lock(&opening);
  /* never closed, whatever is wrong with it: the libraries of device drivers do not survive being unmapped */
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int32_t number = -ENOENT;
  if (handle == NULL) {
    const char* refusal = dlerror();
    say(reason, reason_bytes, refusal == NULL ? "the dynamic linker gave no reason" : refusal);
  } else {
    number = keep(handle, reason, reason_bytes);
  }
  pthread_mutex_unlock(&opening);
  return number;
}

int32_t gatun_verbs_features(int32_t library) {
  const struct verbs* verbs = verbs_of(library);
  if (verbs == NULL) return -EINVAL;
  return (verbs->query_gid_ex != NULL ? GATUN_VERBS_HAS_GID_TYPES : 0) |
         (verbs->has_dmabuf ? GATUN_VERBS_HAS_DMABUF : 0);
}

int32_t gatun_verbs_abi_version(void) { return GATUN_VERBS_ABI_VERSION; }
