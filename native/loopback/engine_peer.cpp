// SPDX-License-Identifier: Apache-2.0
#include "engine_peer.h"

#include "engine_wire.h"
#include "faults.h"
#include "mutants.h"
#include "worker_thread.h"

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

// Tells who answered.
Channel greeted(const std::string& name, uint64_t& instance) {
  Channel channel = Channel::connect(name);
  if (!channel) return {};
  channel.limit_waits(kWireGreeting);
  WireGreeting greeting{};
  if (!begin(channel, WireCall::kHello, 0, 0) || !channel.receive(&greeting, sizeof greeting)) return {};
  if (greeting.magic != kWireMagic) return {};
  instance = greeting.instance;
  return channel;
}

// In tests another time may stand in for it.
std::chrono::milliseconds progress_limit() {
  const Fault fault = reach(FaultPoint::kEngineProgress);
  return fault.fails() ? std::chrono::milliseconds(fault.code) : kWireProgress;
}

}  // namespace

std::shared_ptr<RemotePeer> RemotePeer::open(const std::string& name) {
  uint64_t instance = 0;
  Channel channel = greeted(name, instance);
  if (!channel) return nullptr;
  auto peer = std::make_shared<RemotePeer>(name, instance);
  peer->idle_.push_back(std::move(channel));
  return peer;
}

RemotePeer::Written RemotePeer::write(const void* source, uint64_t address, uint64_t bytes,
                                      std::function<void(bool good)> later) {
  bool fresh = false;
  Channel channel = silent_writes_ > 0 ? Channel() : acquire(fresh);
  if (!channel) return Written::kFailed;
  const bool good =
      begin(channel, WireCall::kWrite, address, bytes) && channel.send(source, bytes) && answered(channel);
  if (!good && !fresh && !channel.timed_out()) {
    give_back(std::move(channel), false);
    return write(source, address, bytes, std::move(later));
  }
  if (good || !channel.timed_out() || mutant(Mutant::kEngineSilentPeerGivenUp)) {
    give_back(std::move(channel), good);
    return good ? Written::kAll : Written::kFailed;
  }
  // What it has not got in whole it does not answer, but hang up on.
  channel.finish_sending();
  silent_writes_++;
  const auto waiting = std::make_shared<Channel>(std::move(channel));
  const auto wait = [self = shared_from_this(), waiting, later = std::move(later)] {
    waiting->await_other_end();
    const bool all = answered(*waiting);
    self->give_back(std::move(*waiting), false);
    self->silent_writes_--;
    later(all);
  };
  if (!start_worker("gatun-silent", wait)) wait();
  return Written::kSilent;
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
  for (;;) {
    bool fresh = false;
    Channel channel = acquire(fresh);
    if (!channel) return false;
    const bool good = body(channel);
    const bool again = !good && !fresh && !channel.timed_out();
    give_back(std::move(channel), good);
    if (!again) return good;
  }
}

Channel RemotePeer::acquire(bool& fresh) {
  const auto limit = progress_limit();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    while (!idle_.empty()) {
      Channel channel = std::move(idle_.back());
      idle_.pop_back();
      if (!channel.quiet()) continue;  // the engine at the other end is gone; another may have its name
      channel.limit_waits(limit);
      in_use_.insert(channel.descriptor());
      return channel;
    }
  }
  fresh = true;
  uint64_t instance = 0;
  Channel channel = greeted(name_, instance);
  if (!channel || instance != instance_) return {};
  channel.limit_waits(limit);
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
