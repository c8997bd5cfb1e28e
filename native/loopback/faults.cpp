// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

namespace gatun::loopback {

std::atomic<int32_t> armed_fault_count{0};

namespace {

constexpr size_t kPointCount = static_cast<size_t>(FaultPoint::kCount);

constexpr std::array<const char*, kPointCount> kPointNames = {
    "setup",
    "health",
    "put.before_start",
    "put.before_copy",
    "put.before_end",
    "get.before_lookup",
    "get.before_copy",
    "get.before_return",
    "exists",
    "size",
    "remove.before",
    "remove_regex.before",
    "remove_all.before",
    "remove_all.middle",
    "register",
    "unregister",
    "engine.create",
    "engine.open_segment",
    "engine.register",
    "engine.submit",
    "engine.copy",
    "engine.status",
    "engine.free_batch",
    "engine.notify",
    "engine.progress",
};

struct Armed {
  FaultAction action = FaultAction::kNone;
  int64_t argument = 0;
  uint64_t after = 0;      // hits still to let pass
  uint64_t remaining = 0;  // hits still to affect; max: without end
  int64_t hits = 0;
  int64_t hanging = 0;
  uint64_t generation = 0;  // a hang ends when this has moved on
};

// Leaked on purpose: a thread may hang here while the process exits.
struct Registry {
  std::mutex mutex;
  std::condition_variable released;
  std::array<Armed, kPointCount> points;
};

Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

Armed* find(Registry& faults, const char* point) {
  if (point == nullptr) return nullptr;
  for (size_t i = 0; i < kPointCount; i++) {
    if (std::strcmp(kPointNames[i], point) == 0) return &faults.points[i];
  }
  return nullptr;
}

void disarm(Armed& point) {
  if (point.action != FaultAction::kNone) armed_fault_count.fetch_sub(1, std::memory_order_relaxed);
  point.action = FaultAction::kNone;
  point.generation++;
}

}  // namespace

Fault reach_armed(FaultPoint which) {
  Registry& faults = registry();
  std::unique_lock lock(faults.mutex);
  Armed& point = faults.points[static_cast<size_t>(which)];
  if (point.action == FaultAction::kNone) return {};
  point.hits++;
  if (point.after > 0) {
    point.after--;
    return {};
  }
  if (point.remaining == 0) return {};
  if (point.remaining != std::numeric_limits<uint64_t>::max()) point.remaining--;
  const Armed taken = point;
  if (taken.action == FaultAction::kHang) {
    point.hanging++;
    faults.released.wait(lock, [&] { return point.generation != taken.generation; });
    point.hanging--;
    return {};
  }
  lock.unlock();
  if (taken.action == FaultAction::kDelay) {
    std::this_thread::sleep_for(std::chrono::milliseconds(taken.argument));
    return {};
  }
  return {taken.action, taken.argument};
}

const char* fault_point_name(int index) {
  return index >= 0 && static_cast<size_t>(index) < kPointCount ? kPointNames[static_cast<size_t>(index)] : nullptr;
}

bool arm_fault(const char* name, int action, int64_t argument, uint64_t count, uint64_t after) {
  if (action < static_cast<int>(FaultAction::kDelay) || action > static_cast<int>(FaultAction::kSkip)) return false;
  Registry& faults = registry();
  const std::lock_guard lock(faults.mutex);
  Armed* const point = find(faults, name);
  if (point == nullptr) return false;
  disarm(*point);
  point->action = static_cast<FaultAction>(action);
  point->argument = argument;
  point->after = after;
  point->remaining = count == 0 ? std::numeric_limits<uint64_t>::max() : count;
  point->hits = 0;
  armed_fault_count.fetch_add(1, std::memory_order_relaxed);
  faults.released.notify_all();
  return true;
}

bool release_fault(const char* name) {
  Registry& faults = registry();
  const std::lock_guard lock(faults.mutex);
  Armed* const point = find(faults, name);
  if (point == nullptr) return false;
  disarm(*point);
  faults.released.notify_all();
  return true;
}

void release_all_faults() {
  Registry& faults = registry();
  const std::lock_guard lock(faults.mutex);
  for (Armed& point : faults.points) disarm(point);
  faults.released.notify_all();
}

int64_t fault_hits(const char* name) {
  Registry& faults = registry();
  const std::lock_guard lock(faults.mutex);
  const Armed* const point = find(faults, name);
  return point == nullptr ? -1 : point->hits;
}

int64_t fault_hanging(const char* name) {
  Registry& faults = registry();
  const std::lock_guard lock(faults.mutex);
  const Armed* const point = find(faults, name);
  return point == nullptr ? -1 : point->hanging;
}

}  // namespace gatun::loopback
