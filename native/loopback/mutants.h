// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

// Known wrong behaviours, one at a time, by which a contract suite proves that it would notice them. Off, each
// question costs one relaxed load of a line that nobody writes.
namespace gatun::loopback {

// The order is the id that gatun_loopback_mutant takes; names are in mutants.cpp. Append only.
enum class Mutant : int32_t {
  kNone = 0,
  kLostLease,
  kPutInFlightVisible,
  kRemovalOfPutInFlight,
  kEvictedHardPin,
  kExistingKeyRefused,
  kExistingKeyOverwritten,
  kShortBufferPartlyWritten,
  kRemoveAllCountsWrong,
  kRemovalLeavesKey,
  kForcedRemovalHonoursLease,
  kUnforcedRemovalIgnoresLease,
  kBatchResultsShifted,
  kGetReturnsCapacity,
  kExistsErrorFolded,
  kSizeOffByOne,
  kEvictionNeverStarts,
  kZeroLengthAccepted,
  kAbandonedPutReadable,
  kRegexRemovesAll,
  kKeyTruncatedAt255,
  kUnregisterIgnored,
  kLastByteNotCopied,
  kSoftPinIgnored,
  kZeroReplicasAccepted,
  kExpiredLeaseUnreported,
  kRegexAnchored,
  kRemovalOfMissingSucceeds,
  kInFlightReportedMissing,
  kEvictionIgnoresLease,
  kReaderNotCounted,
  kRevokeLeavesKey,
  kEngineCompletesBeforeCopy,
  kEngineFreesBusyBatch,
  kEngineAcceptsOverlap,
  kEngineCapacityUnbounded,
  kEngineNotifyTwice,
  kEngineLastByteNotCopied,
  kEngineRangeEndUnchecked,
  kEngineRegistrationNotRolledBack,
  kEngineSilentPeerGivenUp,
  kCount,
};

extern std::atomic<int32_t> active_mutant;

inline bool mutant(Mutant which) {
  return active_mutant.load(std::memory_order_relaxed) == static_cast<int32_t>(which);
}

int mutant_count();
const char* mutant_name(int id);
bool switch_mutant(int id);

}  // namespace gatun::loopback
