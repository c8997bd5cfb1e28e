// SPDX-License-Identifier: Apache-2.0
// Engines of different processes.
#include <signal.h>

#include "check.h"
#include "fixture.h"
#include "peer_process.h"

namespace {

int wait_terminal(transfer_engine_t engine, batch_id_t batch, size_t task) {
  transfer_status_t status{-1, 0};
  eventually("the task ends",
             [&] { return getTransferStatus(engine, batch, task, &status) != 0 || status.status != STATUS_WAITING; });
  return status.status;
}

int run_one(transfer_engine_t engine, transfer_request_t request) {
  const batch_id_t batch = allocateBatchID(engine, 1);
  EXPECT_EQ(0, submitTransfer(engine, batch, &request, 1));
  const int status = wait_terminal(engine, batch, 0);
  EXPECT_EQ(0, freeBatchID(engine, batch));
  return status;
}

void bytes_cross() {
  const PeerProcess peer;
  const TestEngine here;
  const segment_id_t id = openSegment(here, peer.name().c_str());
  EXPECT_EQ(1, id);
  EXPECT_EQ(1, openSegmentNoCache(here, peer.name().c_str()));
  std::vector<std::byte> memory(PeerProcess::kBytes);
  std::vector<std::byte> expected(PeerProcess::kBytes);
  fill_page(expected.data(), "peer", expected.size(), 7);
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_READ, memory.data(), id, peer.address(), memory.size()}));
  EXPECT(memory == expected);
  fill_page(memory.data(), "written", memory.size(), 8);
  const uint64_t part = 4096;
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_WRITE, memory.data(), id, peer.address() + part, part}));
  std::vector<std::byte> back(PeerProcess::kBytes);
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_READ, back.data(), id, peer.address(), back.size()}));
  std::copy(memory.begin(), memory.begin() + part, expected.begin() + part);
  EXPECT(back == expected);
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_WRITE, memory.data(), id, peer.address(), 0}));
}

void many_at_once() {
  const PeerProcess peer;
  const TestEngine here;
  const segment_id_t id = openSegment(here, peer.name().c_str());
  constexpr size_t kTasks = 256;
  constexpr uint64_t kPart = PeerProcess::kBytes / kTasks;
  std::vector<std::byte> memory(PeerProcess::kBytes);
  fill_page(memory.data(), "many", memory.size(), 9);
  std::vector<transfer_request_t> requests;
  for (size_t i = 0; i < kTasks; i++)
    requests.push_back({OPCODE_WRITE, memory.data() + i * kPart, id, peer.address() + i * kPart, kPart});
  const batch_id_t batch = allocateBatchID(here, kTasks);
  EXPECT_EQ(0, submitTransfer(here, batch, requests.data(), kTasks));
  for (size_t i = 0; i < kTasks; i++) EXPECT_EQ(STATUS_COMPLETED, wait_terminal(here, batch, i));
  EXPECT_EQ(0, freeBatchID(here, batch));
  std::vector<std::byte> back(PeerProcess::kBytes);
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_READ, back.data(), id, peer.address(), back.size()}));
  EXPECT(back == memory);
}

void ranges_are_checked_there() {
  PeerProcess peer;
  const TestEngine here;
  const segment_id_t id = openSegment(here, peer.name().c_str());
  std::vector<std::byte> memory(4096);
  const uint64_t end = peer.address() + PeerProcess::kBytes;
  for (const int opcode : {OPCODE_READ, OPCODE_WRITE}) {
    for (const uint64_t wrong : {peer.address() - 1, end - 4095, end, uint64_t{0}, UINT64_MAX - 100})
      EXPECT_EQ(STATUS_FAILED, run_one(here, {opcode, memory.data(), id, wrong, 4096}));
    EXPECT_EQ(STATUS_COMPLETED, run_one(here, {opcode, memory.data(), id, end - 4096, 4096}));
  }
  EXPECT(peer.unregister());
  EXPECT_EQ(STATUS_FAILED, run_one(here, {OPCODE_WRITE, memory.data(), id, peer.address(), 8}));
}

void messages_cross() {
  PeerProcess peer;
  const TestEngine here;
  const segment_id_t id = openSegment(here, peer.name().c_str());
  char name[] = "who";
  char first[] = "first";
  char second[] = "second";
  EXPECT_EQ(0, genNotifyInEngine(here, static_cast<uint64_t>(id), {name, first}));
  std::vector<std::byte> memory(8);
  transfer_request_t write{OPCODE_WRITE, memory.data(), id, peer.address(), 8};
  const batch_id_t batch = allocateBatchID(here, 1);
  EXPECT_EQ(0, submitTransferWithNotify(here, batch, &write, 1, {name, second}));
  EXPECT_EQ(STATUS_COMPLETED, wait_terminal(here, batch, 0));
  EXPECT_EQ(0, freeBatchID(here, batch));
  EXPECT(peer.notices() == "first,second");
  EXPECT(peer.notices().empty());
}

void a_peer_that_is_killed() {
  PeerProcess peer;
  const TestEngine here;
  const segment_id_t id = openSegment(here, peer.name().c_str());
  constexpr size_t kTasks = 64;
  std::vector<std::byte> memory(PeerProcess::kBytes);
  std::vector<transfer_request_t> requests(kTasks,
                                           {OPCODE_READ, memory.data(), id, peer.address(), PeerProcess::kBytes});
  const batch_id_t batch = allocateBatchID(here, kTasks);
  peer.send(SIGSTOP);
  EXPECT_EQ(0, submitTransfer(here, batch, requests.data(), kTasks));
  peer.send(SIGKILL);
  for (size_t i = 0; i < kTasks; i++) EXPECT_EQ(STATUS_FAILED, wait_terminal(here, batch, i));
  EXPECT_EQ(0, freeBatchID(here, batch));
  char text[] = "x";
  EXPECT_EQ(-102, genNotifyInEngine(here, static_cast<uint64_t>(id), {text, text}));
  EXPECT_EQ(id, openSegmentNoCache(here, peer.name().c_str()));
  EXPECT_EQ(STATUS_FAILED, run_one(here, requests[0]));
  const TestEngine other;
  EXPECT_EQ(-1, openSegment(other, peer.name().c_str()));
}

// Destroying does not wait for a peer that answers nothing.
void a_peer_that_is_frozen() {
  PeerProcess peer;
  std::vector<std::byte> memory(PeerProcess::kBytes);
  const transfer_engine_t here = createTransferEngine("P2PHANDSHAKE", "127.0.0.1:1", "127.0.0.1", 0, 1);
  const segment_id_t id = openSegment(here, peer.name().c_str());
  peer.send(SIGSTOP);
  transfer_request_t read{OPCODE_READ, memory.data(), id, peer.address(), PeerProcess::kBytes};
  const batch_id_t batch = allocateBatchID(here, 1);
  EXPECT_EQ(0, submitTransfer(here, batch, &read, 1));
  transfer_status_t status{};
  EXPECT_EQ(0, getTransferStatus(here, batch, 0, &status));
  EXPECT_EQ(STATUS_WAITING, status.status);
  const auto began = std::chrono::steady_clock::now();
  destroyTransferEngine(here);
  EXPECT(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
}

}  // namespace

const std::vector<Check>& engine_peer_checks() {
  static const std::vector<Check> checks = {
      {"bytes cross to another process and back", bytes_cross},
      {"many transfers at once to another process", many_at_once},
      {"ranges are checked in the other process", ranges_are_checked_there},
      {"messages cross to another process", messages_cross},
      {"a peer process that is killed", a_peer_that_is_killed},
      {"a peer process that is frozen", a_peer_that_is_frozen},
  };
  return checks;
}
