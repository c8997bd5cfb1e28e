// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "abi.h"
#include "copy_crew.h"
#include "pool.h"

namespace gatun::loopback {

// What setup takes, NULLs replaced by the ABI's defaults.
struct StoreOptions {
  std::string hostname;
  std::string metadata;
  uint64_t segment_bytes = 0;
  uint64_t local_buffer_bytes = 0;
  std::string protocol;
  std::string master;

  // 0, or -600: which field is wrong is not part of the ABI.
  int check() const;
};

// A client of a pool: the data path of the ABI behind one handle. Pointers were checked for NULL by the caller.
// Everything but setup may run concurrently.
class Store {
 public:
  Store();
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  int set_up(const StoreOptions& options);
  bool is_set_up() const { return ready_.load(std::memory_order_acquire); }
  int health();
  const std::string& hostname() const { return hostname_; }

  int put(const char* key, const void* value, uint64_t bytes, const mooncake_replicate_config* config);
  int put_from(const char* key, const void* buffer, uint64_t bytes, const mooncake_replicate_config* config);
  int batch_put_from(size_t count, const char* const* keys, void* const* buffers, const size_t* sizes,
                     const mooncake_replicate_config* config, int* results);

  int64_t get_into(const char* key, void* buffer, uint64_t capacity);
  int batch_get_into(size_t count, const char* const* keys, void* const* buffers, const size_t* capacities,
                     int64_t* results);

  int exists(const char* key);
  int batch_exists(size_t count, const char* const* keys, int* results);
  int64_t size(const char* key);

  int remove(const char* key, bool force);
  int64_t remove_matching(const char* pattern, bool force);
  int64_t remove_all(bool force);

  int register_buffer(void* buffer, uint64_t bytes);
  int unregister_buffer(void* buffer);

 private:
  struct PutItem;
  struct GetItem;

  int put_one(const char* key, const void* value, uint64_t bytes, const mooncake_replicate_config* config);
  int start_put(PutItem& item, const char* key, uint64_t bytes, const mooncake_replicate_config* config);
  int before_copy(PutItem& item);
  int end_put(PutItem& item, int admitted);
  int64_t start_get(GetItem& item, const char* key, void* buffer, uint64_t capacity, int64_t now);
  int64_t end_get(GetItem& item, int64_t now);

  const uint64_t id_;
  std::mutex setup_mutex_;
  std::atomic<bool> ready_{false};
  std::string hostname_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<Segment> segment_;
  uint64_t local_buffer_bytes_ = 0;
  std::atomic<uint64_t> local_buffer_used_{0};
  std::mutex buffers_mutex_;
  std::map<uintptr_t, uint64_t> buffers_;
};

}  // namespace gatun::loopback
