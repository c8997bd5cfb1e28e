// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include <map>
#include <random>

#include "clock.h"
#include "codes.h"

namespace gatun::loopback {
namespace {

uint64_t new_start_id() {
  static std::atomic<uint64_t> starts{0};
  std::random_device entropy;
  // The low part makes it unique in this process, the high part unlike that of another run.
  const uint64_t run = (uint64_t{entropy()} << 32) | entropy();
  return (run << 20) | ((starts.fetch_add(1, std::memory_order_relaxed) + 1) & 0xfffff);
}

// Leaked on purpose: stores may be destroyed while the process exits.
struct Pools {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Pool>, std::less<>> by_name;
};

Pools& pools() {
  static Pools* const instance = new Pools;
  return *instance;
}

}  // namespace

Pool::Pool(std::string name) : name_(std::move(name)), start_id_(new_start_id()) {}

Pool::~Pool() {
  for (uint32_t i = 0; i < Index::kShards; i++) {
    index_.at(i).objects.for_each([](Object& object) { object.drop(); });
  }
}

std::shared_ptr<Pool> Pool::attach(const std::string& name) {
  const std::lock_guard lock(pools().mutex);
  std::erase_if(pools().by_name, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Pool>& known = pools().by_name[name];
  std::shared_ptr<Pool> pool = known.lock();
  if (pool == nullptr) {
    pool = std::make_shared<Pool>(name);
    known = pool;
  }
  return pool;
}

std::shared_ptr<Pool> Pool::find(std::string_view name) {
  const std::lock_guard lock(pools().mutex);
  const auto known = pools().by_name.find(name);
  return known == pools().by_name.end() ? nullptr : known->second.lock();
}

void Pool::bring_all_up() {
  std::vector<std::shared_ptr<Pool>> live;
  {
    const std::lock_guard lock(pools().mutex);
    for (const auto& [name, known] : pools().by_name) {
      if (auto pool = known.lock()) live.push_back(std::move(pool));
    }
  }
  for (const auto& pool : live) pool->set_master_state(MasterState::kUp);
}

int Pool::admit() {
  if (state_.load(std::memory_order_acquire) == MasterState::kUp) [[likely]]
    return kOk;
  std::unique_lock lock(state_mutex_);
  hanging_.fetch_add(1, std::memory_order_relaxed);
  thawed_.wait(lock, [&] { return state_.load(std::memory_order_relaxed) != MasterState::kFrozen; });
  hanging_.fetch_sub(1, std::memory_order_relaxed);
  return state_.load(std::memory_order_relaxed) == MasterState::kUp ? kOk : kRpcFail;
}

void Pool::set_master_state(MasterState state) {
  const std::lock_guard lock(state_mutex_);
  state_.store(state, std::memory_order_release);
  thawed_.notify_all();
}

void Pool::restart() {
  for (uint32_t i = 0; i < Index::kShards; i++) {
    Shard& shard = index_.at(i);
    const std::lock_guard lock(shard.mutex);
    shard.objects.retain([](const Object&) { return false; }, [&](Object* object) { release(shard, *object); });
    shard.counters = {};
  }
  eviction_passes_ = 0;
  start_id_ = new_start_id();
}

void Pool::unmount(const Segment* segment) {
  // First out of the set: a put that allocated here earlier published its object under the lock of its shard, so the
  // walk below meets it.
  segments_.unmount(segment);
  lose_segment(segment);
}

bool Pool::lose_objects_of(std::string_view segment_name) {
  const auto named = segments_.named(segment_name);
  for (const auto& segment : named) lose_segment(segment.get());
  return !named.empty();
}

void Pool::lose_segment(const Segment* segment) {
  for (uint32_t i = 0; i < Index::kShards; i++) {
    Shard& shard = index_.at(i);
    const std::lock_guard lock(shard.mutex);
    shard.objects.retain([&](Object& object) { return !object.lose(segment); },
                         [&](Object* object) { release(shard, *object); });
  }
}

void Pool::detach(Shard& shard, Object& object) {
  shard.objects.erase(&object);
  release(shard, object);
}

void Pool::release(Shard& shard, Object& object) {
  object.indexed = false;
  if (object.state == ObjectState::kComplete) shard.counters.complete--;
  if (mutant(Mutant::kReaderNotCounted)) object.free_extents();
  object.drop();
}

}  // namespace gatun::loopback
