// SPDX-License-Identifier: Apache-2.0
#include "engine_endpoint.h"

#include <unistd.h>

#include <chrono>
#include <map>

namespace gatun::loopback {
namespace {

// Where the real engine takes its random ports from. Here a label.
constexpr int kFirstPort = 15000;
constexpr int kPortCount = 2000;

// Leaked on purpose: engines may be destroyed while the process exits.
struct Endpoints {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Endpoint>, std::less<>> by_name;
  // processes begin at different ones, so that they rarely meet a name that is taken
  int next_port = static_cast<int>(getpid()) * 61 % kPortCount;
};

Endpoints& endpoints() {
  static Endpoints* const instance = new Endpoints;
  return *instance;
}

uint64_t new_instance() {
  uint64_t number = 0;
  if (getentropy(&number, sizeof number) == 0) return number;
  // a system without it: names are not used again within a tick
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

Endpoint::Endpoint(std::string name) : name_(std::move(name)), instance_(new_instance()) {}

std::shared_ptr<Endpoint> Endpoint::open(std::string_view host) {
  Endpoints& all = endpoints();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.by_name, [](const auto& entry) { return entry.second.expired(); });
  for (int tries = 0; tries < kPortCount; tries++) {
    const int port = kFirstPort + all.next_port;
    all.next_port = (all.next_port + 1) % kPortCount;
    std::string name = std::string(host) + ":" + std::to_string(port);
    if (all.by_name.contains(name)) continue;
    auto endpoint = std::make_shared<Endpoint>(name);
    endpoint->server_ = std::make_unique<EngineServer>(*endpoint);
    const Listener::Result result = endpoint->server_->listen(name);
    if (result == Listener::Result::kTaken) continue;
    if (result == Listener::Result::kUnavailable) endpoint->server_ = nullptr;  // within the process it works all the same
    all.by_name.emplace(std::move(name), endpoint);
    return endpoint;
  }
  return nullptr;
}

std::shared_ptr<Endpoint> Endpoint::find(std::string_view name) {
  const std::lock_guard lock(endpoints().mutex);
  const auto known = endpoints().by_name.find(name);
  return known == endpoints().by_name.end() ? nullptr : known->second.lock();
}

void Endpoint::close() {
  {
    const std::lock_guard lock(endpoints().mutex);
    endpoints().by_name.erase(name_);
  }
  server_ = nullptr;
  {
    const std::lock_guard lock(inbox_mutex_);
    closed_ = true;
    inbox_.clear();
  }
  regions_.close();
}

bool Endpoint::deliver(Notice notice) {
  const std::lock_guard lock(inbox_mutex_);
  if (closed_) return false;
  inbox_.push_back(std::move(notice));
  return true;
}

std::vector<Notice> Endpoint::drain() {
  const std::lock_guard lock(inbox_mutex_);
  return std::exchange(inbox_, {});
}

}  // namespace gatun::loopback
