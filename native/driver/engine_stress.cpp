// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <memory>

#include "check.h"
#include "fixture.h"
#include "stress.h"

namespace {

constexpr int kThreads = 3;
constexpr size_t kSlotBytes = 2 * kMiB;
constexpr size_t kRequests = 8;

// Writes pages into a slot of the peer that is its own, reads them back, compares.
class EngineUser {
 public:
  EngineUser(transfer_engine_t engine, segment_id_t peer, std::byte* slot, uint64_t seed)
      : engine_(engine), peer_(peer), slot_(slot), random_(seed), source_(kSlotBytes), back_(kSlotBytes) {}

  void step() {
    const size_t bytes = 1 + random_.below(random_.below(4) == 0 ? kSlotBytes / kRequests : 20'000);
    const std::string name = "slot" + std::to_string(random_.below(1000));
    std::vector<transfer_request_t> writes;
    std::vector<transfer_request_t> reads;
    for (size_t i = 0; i < kRequests; i++) {
      const size_t at = i * (kSlotBytes / kRequests);
      fill_page(source_.data() + at, name, bytes, i);
      const auto target = reinterpret_cast<uint64_t>(slot_ + at);
      writes.push_back({OPCODE_WRITE, source_.data() + at, peer_, target, bytes});
      reads.push_back({OPCODE_READ, back_.data() + at, peer_, target, bytes});
    }
    run(writes);
    run(reads);
    for (size_t i = 0; i < kRequests; i++) {
      EXPECT(page_is_whole(back_.data() + i * (kSlotBytes / kRequests), name, bytes));
    }
    refuse_outside();
  }

 private:
  void run(std::vector<transfer_request_t>& requests) {
    const batch_id_t batch = allocateBatchID(engine_, requests.size());
    EXPECT_EQ(0, submitTransfer(engine_, batch, requests.data(), requests.size()));
    for (size_t task = 0; task < requests.size(); task++) EXPECT_EQ(STATUS_COMPLETED, end_of(batch, task));
    EXPECT_EQ(0, freeBatchID(engine_, batch));
  }

  void refuse_outside() {
    transfer_request_t outside{OPCODE_WRITE, source_.data(), peer_, 8, 8};
    const batch_id_t batch = allocateBatchID(engine_, 1);
    EXPECT_EQ(0, submitTransfer(engine_, batch, &outside, 1));
    EXPECT_EQ(STATUS_FAILED, end_of(batch, 0));
    EXPECT_EQ(0, freeBatchID(engine_, batch));
  }

  int end_of(batch_id_t batch, size_t task) {
    transfer_status_t status{STATUS_WAITING, 0};
    while (getTransferStatus(engine_, batch, task, &status) == 0 && status.status == STATUS_WAITING) {
      std::this_thread::yield();
    }
    return status.status;
  }

  const transfer_engine_t engine_;
  const segment_id_t peer_;
  std::byte* const slot_;
  Random random_;
  std::vector<std::byte> source_;
  std::vector<std::byte> back_;
};

// Registers and unregisters memory of its own in the peer, and sends it notices.
void come_and_go(const TestEngine& peer, Deadline deadline) {
  std::vector<std::byte> memory(64 * 1024);
  char name[] = "guest";
  while (std::chrono::steady_clock::now() < deadline) {
    const TestEngine guest;
    const segment_id_t id = openSegment(guest, peer.name().c_str());
    EXPECT_EQ(1, id);
    EXPECT_EQ(0, registerLocalMemory(peer, memory.data(), memory.size(), "*", 1));
    const batch_id_t batch = allocateBatchID(guest, 4);
    std::vector<std::byte> source(memory.size(), std::byte{7});
    transfer_request_t write{OPCODE_WRITE, source.data(), id, reinterpret_cast<uint64_t>(memory.data()), source.size()};
    EXPECT_EQ(0, submitTransferWithNotify(guest, batch, &write, 1, {name, name}));
    EXPECT_EQ(0, genNotifyInEngine(guest, 1, {name, name}));
    // Without waiting: unregistering waits for a copy that runs, and destroying ends what is queued.
    EXPECT_EQ(0, unregisterLocalMemory(peer, memory.data()));
    int size = 0;
    notify_msg_t* const messages = getNotifsFromEngine(peer, &size);
    EXPECT_EQ(0, freeNotifsMsgBuf(messages, size));
  }
}

}  // namespace

uint64_t stress_engine(uint64_t seed, Deadline deadline) {
  std::vector<std::byte> slab(kThreads * kSlotBytes);
  const TestEngine here;
  const TestEngine peer;
  EXPECT_EQ(0, registerLocalMemory(peer, slab.data(), slab.size(), "cpu:0", 1));
  const segment_id_t id = openSegment(here, peer.name().c_str());
  std::atomic<uint64_t> operations{0};
  {
    std::vector<std::unique_ptr<Aside>> users;
    for (int i = 0; i < kThreads; i++) {
      users.push_back(std::make_unique<Aside>([&, i] {
        EngineUser user(here, id, slab.data() + static_cast<size_t>(i) * kSlotBytes, seed + static_cast<uint64_t>(i));
        uint64_t steps = 0;
        while (std::chrono::steady_clock::now() < deadline) {
          user.step();
          steps++;
        }
        operations += steps * (2 * kRequests + 1);
      }));
    }
    users.push_back(std::make_unique<Aside>([&] { come_and_go(peer, deadline); }));
  }
  return operations;
}
