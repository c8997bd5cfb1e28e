// SPDX-License-Identifier: Apache-2.0
// The 19 store functions: handle and NULL checks, then the store.
#include <cstring>
#include <memory>

#include "abi_guard.h"
#include "codes.h"
#include "handle_table.h"
#include "live_handles.h"
#include "store.h"

namespace gatun::loopback {
namespace {

using StoreTable = HandleTable<Store, 1>;

// Leaked on purpose: handles may be used while the process exits.
StoreTable& stores() {
  static StoreTable* const table = new StoreTable;
  return *table;
}

StoreTable::Pin pin(mooncake_store_t handle) {
  return stores().pin(reinterpret_cast<uint64_t>(handle));
}

std::string text_or(const char* text, const char* fallback) {
  return text == nullptr ? fallback : text;
}

template <typename T>
bool has_null(const T* const* pointers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (pointers[i] == nullptr) return true;
  }
  return false;
}

// Runs a call on a live store that was set up; -1 for an unknown handle, -600 before setup.
template <typename Answer, typename Body>
Answer on_store(mooncake_store_t handle, Body&& body) noexcept {
  return guarded(static_cast<Answer>(kInternalError), [&]() -> Answer {
    const auto store = pin(handle);
    if (!store) return kInternalError;
    if (!store->is_set_up()) return kInvalidParams;
    return body(*store);
  });
}

}  // namespace

int64_t live_stores() {
  return stores().live();
}

}  // namespace gatun::loopback

using namespace gatun::loopback;

extern "C" {

mooncake_store_t mooncake_store_create(void) {
  return guarded(mooncake_store_t{nullptr},
                 [] { return reinterpret_cast<mooncake_store_t>(stores().open(std::make_unique<Store>())); });
}

void mooncake_store_destroy(mooncake_store_t store) {
  guarded(0, [&] {
    stores().close(reinterpret_cast<uint64_t>(store)).reset();
    return 0;
  });
}

int mooncake_store_setup(mooncake_store_t store, const char* local_hostname, const char* metadata_server,
                         uint64_t global_segment_size, uint64_t local_buffer_size, const char* protocol,
                         const char* device_name, const char* master_server_addr) {
  (void)device_name;  // no devices here
  return guarded(kInternalError, [&] {
    const auto pinned = pin(store);
    if (!pinned) return kInternalError;
    return pinned->set_up({text_or(local_hostname, ""), text_or(metadata_server, ""), global_segment_size,
                           local_buffer_size, text_or(protocol, "tcp"),
                           text_or(master_server_addr, "127.0.0.1:50051")});
  });
}

int mooncake_store_init_all(mooncake_store_t store, const char* protocol, const char* device_name,
                            uint64_t mount_segment_size) {
  constexpr uint64_t kLocalBufferBytes = 1ULL << 30;
  return mooncake_store_setup(store, "localhost:12345", "P2PHANDSHAKE", mount_segment_size, kLocalBufferBytes, protocol,
                              device_name, nullptr);
}

int mooncake_store_health_check(mooncake_store_t store) {
  return guarded(kInternalError, [&] {
    const auto pinned = pin(store);
    return pinned ? pinned->health() : kInternalError;
  });
}

int mooncake_store_put(mooncake_store_t store, const char* key, const void* value, size_t size,
                       const mooncake_replicate_config_t* config) {
  if (key == nullptr || (value == nullptr && size > 0)) return kInternalError;
  return on_store<int>(store, [&](Store& live) { return live.put(key, value, size, config); });
}

int mooncake_store_put_from(mooncake_store_t store, const char* key, void* buffer, size_t size,
                            const mooncake_replicate_config_t* config) {
  if (key == nullptr || (buffer == nullptr && size > 0)) return kInternalError;
  return on_store<int>(store, [&](Store& live) { return live.put_from(key, buffer, size, config); });
}

int mooncake_store_batch_put_from(mooncake_store_t store, const char** keys, void** buffers, const size_t* sizes,
                                  size_t count, const mooncake_replicate_config_t* config, int* results) {
  if (keys == nullptr || buffers == nullptr || sizes == nullptr || results == nullptr) return kInternalError;
  if (has_null(keys, count) || has_null(buffers, count)) return kInternalError;
  return on_store<int>(store,
                       [&](Store& live) { return live.batch_put_from(count, keys, buffers, sizes, config, results); });
}

int64_t mooncake_store_get_into(mooncake_store_t store, const char* key, void* buffer, size_t size) {
  if (key == nullptr || buffer == nullptr) return kInternalError;
  return on_store<int64_t>(store, [&](Store& live) { return live.get_into(key, buffer, size); });
}

int mooncake_store_batch_get_into(mooncake_store_t store, const char** keys, void** buffers, const size_t* sizes,
                                  size_t count, int64_t* results) {
  if (keys == nullptr || buffers == nullptr || sizes == nullptr || results == nullptr) return kInternalError;
  if (has_null(keys, count) || has_null(buffers, count)) return kInternalError;
  return on_store<int>(store, [&](Store& live) { return live.batch_get_into(count, keys, buffers, sizes, results); });
}

int mooncake_store_is_exist(mooncake_store_t store, const char* key) {
  if (key == nullptr) return kInternalError;
  return on_store<int>(store, [&](Store& live) { return live.exists(key); });
}

int mooncake_store_batch_is_exist(mooncake_store_t store, const char** keys, size_t count, int* results) {
  if (keys == nullptr || results == nullptr || has_null(keys, count)) return kInternalError;
  return on_store<int>(store, [&](Store& live) { return live.batch_exists(count, keys, results); });
}

int64_t mooncake_store_get_size(mooncake_store_t store, const char* key) {
  if (key == nullptr) return kInternalError;
  return on_store<int64_t>(store, [&](Store& live) { return live.size(key); });
}

int mooncake_store_get_hostname(mooncake_store_t store, char* buffer, size_t size) {
  return guarded(kInternalError, [&] {
    const auto pinned = pin(store);
    if (!pinned || buffer == nullptr) return kInternalError;
    const std::string name = pinned->is_set_up() ? pinned->hostname() : "";
    if (name.size() >= size) return kInternalError;
    std::memcpy(buffer, name.c_str(), name.size() + 1);
    return kOk;
  });
}

int mooncake_store_remove(mooncake_store_t store, const char* key, int force) {
  if (key == nullptr) return kInternalError;
  return on_store<int>(store, [&](Store& live) { return live.remove(key, force != 0); });
}

int64_t mooncake_store_remove_by_regex(mooncake_store_t store, const char* pattern, int force) {
  if (pattern == nullptr) return kInternalError;
  return on_store<int64_t>(store, [&](Store& live) { return live.remove_matching(pattern, force != 0); });
}

int64_t mooncake_store_remove_all(mooncake_store_t store, int force) {
  return on_store<int64_t>(store, [&](Store& live) { return live.remove_all(force != 0); });
}

int mooncake_store_register_buffer(mooncake_store_t store, void* buffer, size_t size) {
  if (buffer == nullptr || size == 0) return kInternalError;
  return on_store<int>(store, [&](Store& live) { return live.register_buffer(buffer, size); });
}

int mooncake_store_unregister_buffer(mooncake_store_t store, void* buffer) {
  // NULL is -600 here and -1 above, as in the real library.
  return on_store<int>(store, [&](Store& live) { return live.unregister_buffer(buffer); });
}

}  // extern "C"
