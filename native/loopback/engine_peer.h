// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine_channel.h"
#include "engine_endpoint.h"

namespace gatun::loopback {

// An engine of another process. Bytes travel through sockets, so that each process touches its own memory only: a peer
// that dies ends a transfer, and memory that was given back is never written. Thread-safe; one connection a call.
class RemotePeer {
 public:
  // Null when no engine of this user answers under the name.
  static std::shared_ptr<RemotePeer> open(const std::string& name);

  explicit RemotePeer(std::string name) : name_(std::move(name)) {}

  // Block until done, until the peer is gone, or until nothing has moved for kWireProgress.
  bool write(const void* source, uint64_t address, uint64_t bytes);
  bool read(void* target, uint64_t address, uint64_t bytes);
  bool notify(const Notice& notice);

  // Ends the calls that run, and refuses others.
  void close();

 private:
  Channel acquire();
  void give_back(Channel channel, bool good);
  template <typename Body>
  bool call(Body&& body);

  const std::string name_;
  std::mutex mutex_;
  std::vector<Channel> idle_;
  std::set<int> in_use_;
  bool closed_ = false;
};

// Where a request goes: to an engine of this process or of another.
struct Target {
  std::weak_ptr<Endpoint> local;
  std::shared_ptr<RemotePeer> remote;

  bool deliver(const Notice& notice) const;
};

}  // namespace gatun::loopback
