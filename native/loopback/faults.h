// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

// Faults at named points, for tests. With nothing armed a point costs one relaxed load.
namespace gatun::loopback {

// The order matches the names in faults.cpp.
enum class FaultPoint : int32_t {
  kSetup,
  kHealth,
  kPutBeforeStart,
  kPutBeforeCopy,
  kPutBeforeEnd,
  kGetBeforeLookup,
  kGetBeforeCopy,
  kGetBeforeReturn,
  kExists,
  kSize,
  kRemoveBefore,
  kRemoveRegexBefore,
  kRemoveAllBefore,
  kRemoveAllMiddle,
  kRegister,
  kUnregister,
  kEngineCreate,
  kEngineOpenSegment,
  kEngineRegister,
  kEngineSubmit,
  kEngineCopy,
  kEngineStatus,
  kEngineFreeBatch,
  kEngineNotify,
  kEngineProgress,
  kCount,
};

enum class FaultAction : int32_t { kNone = 0, kDelay = 1, kFail = 2, kHang = 3, kSkip = 4 };

// What the caller has to do at a point: go on, answer code, or report success without doing the work.
struct Fault {
  FaultAction action = FaultAction::kNone;
  int64_t code = 0;

  bool fails() const { return action == FaultAction::kFail; }
  bool skips() const { return action == FaultAction::kSkip; }
};

extern std::atomic<int32_t> armed_fault_count;

// Sleeps or hangs as armed. Never call it with a lock held.
Fault reach_armed(FaultPoint point);

inline Fault reach(FaultPoint point) {
  if (armed_fault_count.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  return reach_armed(point);
}

// Whether a fault takes the place of the call at a point; code is then its answer, 0 where it only pretends to work.
template <typename Code>
bool answered(FaultPoint point, Code& code) {
  const Fault fault = reach(point);
  code = fault.skips() ? 0 : static_cast<Code>(fault.code);
  return fault.fails() || fault.skips();
}

const char* fault_point_name(int index);
bool arm_fault(const char* point, int action, int64_t argument, uint64_t count, uint64_t after);
bool release_fault(const char* point);
void release_all_faults();
int64_t fault_hits(const char* point);
int64_t fault_hanging(const char* point);

}  // namespace gatun::loopback
