/* SPDX-License-Identifier: Apache-2.0
 *
 * A store library that stores nothing and prints what it is asked to do, so that tests see each value as native code
 * sees it. Environment: RECORDER_CREATE_NULL, RECORDER_SETUP and RECORDER_HOSTNAME (codes), RECORDER_CODE (answer of
 * the other calls), RECORDER_DESTROY_HANGS. Like a self-contained store library, it exports no function of the engine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* what a library with an HTTP metadata client has among its type names; there is none for redis */
__attribute__((used)) static const char kHttpClient[] = "17HTTPStoragePluginE";

static int store;

static long number(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

static const char *text(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "-" : value;
}

static int marker(void) { return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != NULL; }

#define SAY(...)          \
  do {                    \
    printf("native ");    \
    printf(__VA_ARGS__);  \
    printf("\n");         \
    fflush(stdout);       \
  } while (0)

void *mooncake_store_create(void) {
  SAY("create tcp=%s ipv6=%s rpc=%s connect=%s retries=%s marker=%d", text("MC_FORCE_TCP"), text("MC_USE_IPV6"),
      text("MC_RPC_TIMEOUT_MS"), text("MC_RPC_CONNECT_TIMEOUT_MS"), text("MC_STORE_CLIENT_SETUP_RETRIES"), marker());
  return number("RECORDER_CREATE_NULL") ? NULL : &store;
}

void mooncake_store_destroy(void *handle) {
  SAY("destroy %d", handle == &store);
  while (number("RECORDER_DESTROY_HANGS")) pause();
}

int mooncake_store_setup(void *handle, const char *host, const char *metadata, uint64_t segment, uint64_t buffer,
                         const char *protocol, const char *devices, const char *master) {
  SAY("setup %d host=%s metadata=%s segment=%llu buffer=%llu protocol=%s devices=%s master=%s", handle == &store, host,
      metadata, (unsigned long long)segment, (unsigned long long)buffer, protocol, devices, master);
  return (int)number("RECORDER_SETUP");
}

int mooncake_store_get_hostname(void *handle, char *buffer, size_t size) {
  snprintf(buffer, size, "recorder:1");
  return handle == &store ? (int)number("RECORDER_HOSTNAME") : -1;
}

int mooncake_store_health_check(void *handle) { return handle == &store ? (int)number("RECORDER_CODE") : -1; }

static void say_config(const unsigned char *config) {
  printf("native config");
  for (int i = 0; i < 16; i++) printf(" %02x", config[i]);
  const char **names;
  size_t count;
  memcpy(&names, config + 16, 8);
  memcpy(&count, config + 24, 8);
  printf(" count=%zu null=%d", count, names == NULL);
  for (size_t i = 0; i < count; i++) printf(" %s", names[i]);
  printf("\n");
  fflush(stdout);
}

int mooncake_store_put(void *handle, const char *key, const void *value, size_t size, const void *config) {
  SAY("put %s %d %zu", key, value != NULL, size);
  say_config(config);
  return handle == &store ? (int)number("RECORDER_CODE") : -1;
}

int mooncake_store_put_from(void *handle, const char *key, void *buffer, size_t size, const void *config) {
  return mooncake_store_put(handle, key, buffer, size, config);
}

int mooncake_store_batch_put_from(void *handle, const char **keys, void **buffers, const size_t *sizes, size_t count,
                                  const void *config, int *results) {
  say_config(config);
  for (size_t i = 0; i < count; i++) {
    SAY("batch put %s %p %zu", keys[i], buffers[i], sizes[i]);
    results[i] = (int)number("RECORDER_CODE");
  }
  return handle == &store ? 0 : -1;
}

int64_t mooncake_store_get_into(void *handle, const char *key, void *buffer, size_t size) {
  SAY("get %s %d %zu", key, buffer != NULL, size);
  return handle == &store ? (int64_t)size : -1;
}

int mooncake_store_batch_get_into(void *handle, const char **keys, void **buffers, const size_t *sizes, size_t count,
                                  int64_t *results) {
  for (size_t i = 0; i < count; i++) {
    SAY("batch get %s %p %zu", keys[i], buffers[i], sizes[i]);
    results[i] = (int64_t)sizes[i];
  }
  return handle == &store ? 0 : -1;
}

int mooncake_store_is_exist(void *handle, const char *key) {
  SAY("exist %s", key);
  return handle == &store ? (int)number("RECORDER_CODE") : -1;
}

int mooncake_store_batch_is_exist(void *handle, const char **keys, size_t count, int *results) {
  for (size_t i = 0; i < count; i++) {
    SAY("batch exist %s", keys[i]);
    results[i] = (int)number("RECORDER_CODE");
  }
  return handle == &store ? 0 : -1;
}

int64_t mooncake_store_get_size(void *handle, const char *key) {
  SAY("size %s", key);
  return handle == &store ? 5LL << 32 : -1;
}

int mooncake_store_remove(void *handle, const char *key, int force) {
  SAY("remove %s %d", key, force);
  return handle == &store ? (int)number("RECORDER_CODE") : -1;
}

int64_t mooncake_store_remove_by_regex(void *handle, const char *pattern, int force) {
  SAY("remove matching %s %d", pattern, force);
  return handle == &store ? 6LL << 32 : -1;
}

int64_t mooncake_store_remove_all(void *handle, int force) {
  SAY("remove all %d", force);
  return handle == &store ? 7LL << 32 : -1;
}

int mooncake_store_register_buffer(void *handle, void *buffer, size_t size) {
  SAY("register %d %zu", buffer != NULL, size);
  return handle == &store ? (int)number("RECORDER_CODE") : -1;
}

int mooncake_store_unregister_buffer(void *handle, void *buffer) {
  SAY("unregister %d", buffer != NULL);
  return handle == &store ? (int)number("RECORDER_CODE") : -1;
}
