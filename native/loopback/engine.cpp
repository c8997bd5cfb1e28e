// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include "codes.h"
#include "mutants.h"

namespace gatun::loopback {
namespace {

// host:port, [v6]:port or a bare address; the port is only a label, as in the real handshake mode.
std::string_view host_of(std::string_view name) {
  if (name.starts_with('[')) {
    const size_t end = name.find(']');
    return end == std::string_view::npos ? name : name.substr(1, end - 1);
  }
  const size_t colon = name.find(':');
  return colon != std::string_view::npos && colon == name.rfind(':') ? name.substr(0, colon) : name;
}

}  // namespace

std::unique_ptr<Engine> Engine::open(std::string_view local_name, bool with_transport) {
  auto endpoint = Endpoint::open(host_of(local_name));
  if (endpoint == nullptr) return nullptr;
  std::unique_ptr<Engine> engine(new Engine(std::move(endpoint)));
  if (with_transport) engine->install_transport();
  return engine;
}

Engine::~Engine() {
  std::vector<std::shared_ptr<RemotePeer>> remote;
  {
    const std::lock_guard lock(mutex_);
    for (const Peer& peer : peers_) remote.push_back(peer.target.remote);
  }
  for (const auto& peer : remote) {
    if (peer != nullptr) peer->close();  // a call that waits for a frozen peer ends
  }
  gate_->close();
  endpoint_->close();
}

segment_id_t Engine::open_segment(std::string_view name, bool refresh) {
  if (name.starts_with('/')) name.remove_prefix(1);
  if (!has_transport_) return -1;
  if (name == this->name()) return LOCAL_SEGMENT;
  if (!refresh) {
    const std::lock_guard lock(mutex_);
    const auto opened = ids_.find(name);
    if (opened != ids_.end()) return opened->second;
  }
  Target found;
  const bool alive = find(std::string(name), found);
  const std::lock_guard lock(mutex_);
  const auto opened = ids_.find(name);
  if (opened != ids_.end()) {
    // A dead peer keeps its id; its transfers fail.
    const Target& known = peers_[static_cast<size_t>(opened->second) - 1].target;
    if (!alive || known.instance == found.instance) return opened->second;
  }
  if (!alive) return -1;
  peers_.push_back({std::string(name), std::move(found)});
  const auto id = static_cast<segment_id_t>(peers_.size());
  ids_.insert_or_assign(std::string(name), id);
  return id;
}

void Engine::forget_segment(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto opened = ids_.find(name);
  if (opened == ids_.end()) return;
  peers_[static_cast<size_t>(opened->second) - 1].known = false;
  ids_.erase(opened);
}

bool Engine::find(const std::string& name, Target& target) {
  if (auto endpoint = Endpoint::find(name)) {
    target.local = endpoint;
    target.instance = endpoint->instance();
    return true;
  }
  target.remote = RemotePeer::open(name);
  if (target.remote == nullptr) return false;
  target.instance = target.remote->instance();
  return true;
}

bool Engine::target_of(int64_t id, Target& target) {
  if (id == LOCAL_SEGMENT) {
    target.local = endpoint_;
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (id < 1 || static_cast<uint64_t>(id) > peers_.size()) return false;
  const Peer& peer = peers_[static_cast<size_t>(id) - 1];
  target = peer.target;
  return peer.known;
}

int Engine::add_regions(const buffer_entry_t* buffers, size_t count) {
  RegionTable& regions = endpoint_->regions();
  for (size_t i = 0; i < count; i++) {
    const int code = regions.add(reinterpret_cast<uintptr_t>(buffers[i].addr), buffers[i].length);
    if (code == kOk) continue;
    if (mutant(Mutant::kEngineRegistrationNotRolledBack)) return code;
    while (i-- > 0) regions.remove(reinterpret_cast<uintptr_t>(buffers[i].addr));
    return code;
  }
  return kOk;
}

int Engine::remove_regions(void* const* bases, size_t count) {
  int first_error = kOk;
  for (size_t i = 0; i < count; i++) {
    const int code = endpoint_->regions().remove(reinterpret_cast<uintptr_t>(bases[i]));
    if (first_error == kOk) first_error = code;
  }
  return first_error;
}

void Engine::adopt_batch(uint64_t id) {
  const std::lock_guard lock(mutex_);
  batches_.insert(id);
}

void Engine::forget_batch(uint64_t id) {
  const std::lock_guard lock(mutex_);
  batches_.erase(id);
}

std::set<uint64_t> Engine::take_batches() {
  const std::lock_guard lock(mutex_);
  return std::exchange(batches_, {});
}

}  // namespace gatun::loopback
