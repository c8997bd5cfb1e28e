// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine_channel.h"
#include "engine_endpoint.h"

namespace gatun::loopback {

// An engine of another process: the one that was opened, and none that was started since under its name, about which
// every new connection is asked before anything else is sent. Bytes travel through sockets, so that each process
// touches its own memory only: a peer that dies ends a transfer, and memory that was given back is never written.
// Thread-safe; one connection a call.
class RemotePeer : public std::enable_shared_from_this<RemotePeer> {
 public:
  // How a write ended. kSilent: the peer may still apply what it was sent.
  enum class Written { kAll, kFailed, kSilent };

  // Null when no engine of this user answers under the name.
  static std::shared_ptr<RemotePeer> open(const std::string& name);

  RemotePeer(std::string name, uint64_t instance) : name_(std::move(name)), instance_(instance) {}

  uint64_t instance() const { return instance_; }

  // Block until done, until the peer is gone, or until nothing has moved for kWireProgress. A write that ends as
  // kSilent calls later, on another thread, once the peer has applied it or has hung up and never will; until then
  // others are refused before anything is sent.
  Written write(const void* source, uint64_t address, uint64_t bytes, std::function<void(bool good)> later);
  bool read(void* target, uint64_t address, uint64_t bytes);
  bool notify(const Notice& notice);

  // Ends the calls that run, and refuses others.
  void close();

 private:
  // fresh says that nothing was ever sent on it. One that is not may have been hung up on by now, by a peer that had
  // too many: whatever is hung up on there is tried again.
  Channel acquire(bool& fresh);
  void give_back(Channel channel, bool good);
  template <typename Body>
  bool call(Body&& body);

  const std::string name_;
  const uint64_t instance_;
  std::mutex mutex_;
  std::vector<Channel> idle_;
  std::set<int> in_use_;
  bool closed_ = false;
  std::atomic<int32_t> silent_writes_{0};
};

// Where a request goes: to an engine of this process or of another.
struct Target {
  std::weak_ptr<Endpoint> local;
  std::shared_ptr<RemotePeer> remote;
  uint64_t instance = 0;

  bool deliver(const Notice& notice) const;
};

}  // namespace gatun::loopback
