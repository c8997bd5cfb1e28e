// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gatun_loopback.h"
#include "mooncake_store.h"
#include "mooncake_transfer_engine.h"

inline constexpr uint64_t kMiB = 1ULL << 20;

std::string fresh_pool();

// A store that was set up, in a pool.
class TestStore {
 public:
  explicit TestStore(std::string pool = fresh_pool(), uint64_t segment_bytes = 16 * kMiB,
                     const char* hostname = "127.0.0.1");
  ~TestStore() { mooncake_store_destroy(handle_); }
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  operator mooncake_store_t() const { return handle_; }  // NOLINT: reads like the C call
  const char* pool() const { return pool_.c_str(); }
  std::string hostname() const;
  gatun_loopback_census_t census() const;
  int put(const std::string& key, uint64_t bytes = 64, const mooncake_replicate_config_t* config = nullptr) const;
  // Bytes that are not those of the key count as a failure.
  int64_t get(const std::string& key, uint64_t capacity = 4096) const;

 private:
  const std::string pool_;
  mooncake_store_t handle_;
};

class TestEngine {
 public:
  TestEngine() : handle_(createTransferEngine("P2PHANDSHAKE", "127.0.0.1:1", "127.0.0.1", 0, 1)) {}
  ~TestEngine() { destroyTransferEngine(handle_); }
  TestEngine(const TestEngine&) = delete;
  TestEngine& operator=(const TestEngine&) = delete;

  operator transfer_engine_t() const { return handle_; }  // NOLINT
  std::string name() const;

 private:
  transfer_engine_t handle_;
};

// A page's bytes follow from its key, its length and a nonce in its first 8 bytes; so a torn, stale or foreign page
// shows.
std::vector<std::byte> make_page(const std::string& key, uint64_t bytes, uint64_t nonce = 0);
void fill_page(std::byte* page, const std::string& key, uint64_t bytes, uint64_t nonce);
bool page_is_whole(const std::byte* page, const std::string& key, uint64_t bytes);

// Polls until the condition holds; a failure after ten seconds.
void eventually(const char* what, const std::function<bool()>& condition);

// A thread that is joined.
class Aside {
 public:
  explicit Aside(std::function<void()> body) : thread_(std::move(body)) {}
  ~Aside() { join(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

// Undoes one thing of the test interface, without switching the mutant off that may be on.
class Undo {
 public:
  explicit Undo(std::function<void()> undo) : undo_(std::move(undo)) {}
  ~Undo() { undo_(); }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

 private:
  std::function<void()> undo_;
};
