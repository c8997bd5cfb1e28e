// SPDX-License-Identifier: Apache-2.0
#pragma once

// Return codes of the three code spaces of the ABI, by the names under which they are documented.
namespace gatun::loopback {

// Store calls.
inline constexpr int kOk = 0;
inline constexpr int kInternalError = -1;
inline constexpr int kBufferOverflow = -10;
inline constexpr int kSegmentNotFound = -101;
inline constexpr int kNoAvailableHandle = -200;
inline constexpr int kInvalidParams = -600;
inline constexpr int kIllegalClient = -601;
inline constexpr int kInvalidWrite = -700;
inline constexpr int kReplicaIsNotReady = -703;
inline constexpr int kObjectNotFound = -704;
inline constexpr int kObjectAlreadyExists = -705;
inline constexpr int kObjectHasLease = -706;
inline constexpr int kLeaseExpired = -707;
inline constexpr int kRpcFail = -900;

// Health has its own scale.
inline constexpr int kHealthy = 0;
inline constexpr int kHealthNotSetUp = 1;
inline constexpr int kHealthMasterUnreachable = 2;

// Engine calls that answer negative codes.
inline constexpr int kEngineInvalidArgument = -1;
inline constexpr int kEngineNotRegistered = -3;
inline constexpr int kEngineBusy = -4;
inline constexpr int kEngineOverlap = -7;
inline constexpr int kEngineSocket = -102;
inline constexpr int kEngineMetadata = -200;

// Engine calls that answer positive codes.
inline constexpr int kStatusInvalidArgument = 1;
inline constexpr int kStatusTooManyRequests = 2;
inline constexpr int kStatusBatchBusy = 4;
inline constexpr int kStatusNoTransport = 8;

}  // namespace gatun::loopback
