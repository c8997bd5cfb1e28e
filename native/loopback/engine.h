// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi.h"
#include "engine_batch.h"
#include "engine_endpoint.h"
#include "engine_peer.h"

namespace gatun::loopback {

// One transfer engine: its endpoint, the peers it has opened, its batches. Pointers were checked for NULL by the
// caller. Thread-safe.
class Engine {
 public:
  // Null when no name is free.
  static std::unique_ptr<Engine> open(std::string_view local_name, bool with_transport);
  // Fails what is queued and waits for running copies, its own and those into its memory.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Endpoint& endpoint() { return *endpoint_; }
  const std::string& name() const { return endpoint_->name(); }
  void install_transport() { has_transport_ = true; }
  bool has_transport() const { return has_transport_; }

  // An id, or -1. It stays that of the engine that was found first; one that was started since under its name gets
  // another.
  segment_id_t open_segment(std::string_view name, bool refresh);
  void forget_segment(std::string_view name);
  // False for an id that was never given out; target may be gone all the same.
  bool target_of(int64_t id, Target& target);

  // Registers all or none.
  int add_regions(const buffer_entry_t* buffers, size_t count);
  int remove_regions(void* const* bases, size_t count);

  std::shared_ptr<TransferGate> gate() { return gate_; }
  void adopt_batch(uint64_t id);
  void forget_batch(uint64_t id);
  std::set<uint64_t> take_batches();

 private:
  // Where the engine of that name is now; false when nobody answers.
  static bool find(const std::string& name, Target& target);

  explicit Engine(std::shared_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}

  struct Peer {
    std::string name;
    Target target;
    bool known = true;
  };

  const std::shared_ptr<Endpoint> endpoint_;
  const std::shared_ptr<TransferGate> gate_ = std::make_shared<TransferGate>();
  std::atomic<bool> has_transport_{false};
  std::mutex mutex_;
  std::map<std::string, segment_id_t, std::less<>> ids_;
  std::vector<Peer> peers_;  // id - 1 is the place
  std::set<uint64_t> batches_;
};

}  // namespace gatun::loopback
