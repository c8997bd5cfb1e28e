// SPDX-License-Identifier: Apache-2.0
#include "engine_peer.h"

#include "engine_wire.h"

namespace gatun::loopback {
namespace {

bool answered(Channel& channel) {
  WireAnswer answer{};
  return channel.receive(&answer, sizeof answer) && answer.magic == kWireMagic && answer.good == 1;
}

bool begin(Channel& channel, WireCall call, uint64_t address, uint64_t length) {
  const WireHead head{kWireMagic, call, address, length};
  return channel.send(&head, sizeof head);
}

Channel greeted(const std::string& name) {
  Channel channel = Channel::connect(name);
  if (!channel) return {};
  channel.limit_waits(kWireGreeting);
  if (!begin(channel, WireCall::kHello, 0, 0) || !answered(channel)) return {};
  channel.limit_waits(kWireProgress);
  return channel;
}

}  // namespace

std::shared_ptr<RemotePeer> RemotePeer::open(const std::string& name) {
  Channel channel = greeted(name);
  if (!channel) return nullptr;
  auto peer = std::make_shared<RemotePeer>(name);
  peer->idle_.push_back(std::move(channel));
  return peer;
}

bool RemotePeer::write(const void* source, uint64_t address, uint64_t bytes) {
  return call([&](Channel& channel) {
    return begin(channel, WireCall::kWrite, address, bytes) && channel.send(source, bytes) && answered(channel);
  });
}

bool RemotePeer::read(void* target, uint64_t address, uint64_t bytes) {
  return call([&](Channel& channel) {
    return begin(channel, WireCall::kRead, address, bytes) && answered(channel) && channel.receive(target, bytes);
  });
}

bool RemotePeer::notify(const Notice& notice) {
  return call([&](Channel& channel) {
    return begin(channel, WireCall::kNotice, notice.name.size(), notice.text.size()) &&
           channel.send(notice.name.data(), notice.name.size()) &&
           channel.send(notice.text.data(), notice.text.size()) && answered(channel);
  });
}

template <typename Body>
bool RemotePeer::call(Body&& body) {
  Channel channel = acquire();
  if (!channel) return false;
  const bool good = body(channel);
  give_back(std::move(channel), good);
  return good;
}

Channel RemotePeer::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    while (!idle_.empty()) {
      Channel channel = std::move(idle_.back());
      idle_.pop_back();
      if (!channel.quiet()) continue;  // the engine at the other end is gone; another may have its name
      in_use_.insert(channel.descriptor());
      return channel;
    }
  }
  Channel channel = greeted(name_);
  if (!channel) return {};
  const std::lock_guard lock(mutex_);
  if (closed_) return {};
  in_use_.insert(channel.descriptor());
  return channel;
}

void RemotePeer::give_back(Channel channel, bool good) {
  const std::lock_guard lock(mutex_);
  in_use_.erase(channel.descriptor());
  // A connection that failed may hold half a message.
  if (good && !closed_) idle_.push_back(std::move(channel));
}

void RemotePeer::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  idle_.clear();
  for (const int descriptor : in_use_) Channel::shut_down(descriptor);
}

bool Target::deliver(const Notice& notice) const {
  if (remote != nullptr) return remote->notify(notice);
  const auto endpoint = local.lock();
  return endpoint != nullptr && endpoint->deliver(notice);
}

}  // namespace gatun::loopback
