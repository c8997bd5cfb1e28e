// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "check.h"
#include "fixture.h"

namespace {

uint64_t address(const void* memory) {
  return reinterpret_cast<uint64_t>(memory);
}

int wait_terminal(transfer_engine_t engine, batch_id_t batch, size_t task) {
  transfer_status_t status{-1, 0};
  eventually("the task ends",
             [&] { return getTransferStatus(engine, batch, task, &status) != 0 || status.status != STATUS_WAITING; });
  return status.status;
}

// Two engines, memory of the second registered.
struct Pair {
  explicit Pair(size_t bytes = 4096) : memory(bytes), source(bytes) {
    id = openSegment(here, there.name().c_str());
    EXPECT_EQ(1, id);
    EXPECT_EQ(0, registerLocalMemory(there, memory.data(), memory.size(), "cpu:0", 1));
    fill_page(source.data(), "engine", bytes, 1);
  }
  transfer_request_t request(int opcode, uint64_t offset, uint64_t length) {
    return {opcode, source.data() + offset, id, address(memory.data()) + offset, length};
  }
  // Memory first: the engines go before it, and wait for what still copies.
  std::vector<std::byte> memory;
  std::vector<std::byte> source;
  TestEngine here;
  TestEngine there;
  segment_id_t id = 0;
};

void create_and_names() {
  EXPECT(createTransferEngine(nullptr, "h", "h", 0, 1) == nullptr);
  EXPECT(createTransferEngine("http://x", "h", "h", 0, 1) == nullptr);
  const TestEngine engine;
  const std::string name = engine.name();
  EXPECT(name.starts_with("127.0.0.1:1"));
  char small[5];
  EXPECT_EQ(0, getLocalIpAndPort(engine, small, sizeof small));
  EXPECT(std::strcmp(small, "127.") == 0);
  EXPECT_EQ(LOCAL_SEGMENT, openSegment(engine, name.c_str()));
  EXPECT_EQ(-1, openSegment(engine, "127.0.0.1:1"));
  EXPECT_EQ(-1, openSegment(engine, nullptr));
  const TestEngine other;
  EXPECT_EQ(1, openSegment(engine, ("/" + other.name()).c_str()));
  EXPECT_EQ(1, openSegmentNoCache(engine, other.name().c_str()));
  EXPECT_EQ(0, closeSegment(engine, 99));
  EXPECT_EQ(-1, removeLocalSegment(engine, ""));
  EXPECT_EQ(0, removeLocalSegment(engine, other.name().c_str()));
  EXPECT_EQ(2, openSegment(engine, other.name().c_str()));
  size_t count = 3;
  nic_load_stat_t stats[3];
  EXPECT_EQ(0, getNicLoadStats(engine, stats, &count));
  EXPECT_EQ(0, count);
  EXPECT_EQ(-1, getNicLoadStats(engine, nullptr, &count));
  char links[256];
  EXPECT_EQ(0, showLinks(engine, links, sizeof links, 1));
  EXPECT_EQ('{', links[0]);
  EXPECT_EQ(-1, showLinks(engine, links, 0, 1));
}

void without_a_transport() {
  const transfer_engine_t engine = createTransferEngine("P2PHANDSHAKE", "127.0.0.1:1", "127.0.0.1", 0, 0);
  const TestEngine other;
  EXPECT_EQ(-1, openSegment(engine, other.name().c_str()));
  const batch_id_t batch = allocateBatchID(engine, 1);
  transfer_request_t request{OPCODE_READ, &request, LOCAL_SEGMENT, address(&request), 8};
  EXPECT_EQ(8, submitTransfer(engine, batch, &request, 1));
  EXPECT(installTransport(engine, "bogus", nullptr) == nullptr);
  const transport_t tcp = installTransport(engine, "tcp", nullptr);
  EXPECT(tcp != nullptr);
  EXPECT(installTransport(engine, "tcp", nullptr) == tcp);
  EXPECT_EQ(1, openSegment(engine, other.name().c_str()));
  EXPECT_EQ(0, freeBatchID(engine, batch));
  destroyTransferEngine(engine);
}

void registrations() {
  const TestEngine engine;
  std::vector<std::byte> memory(4096);
  EXPECT_EQ(-1, registerLocalMemory(engine, memory.data(), 0, "*", 1));
  EXPECT_EQ(-1, registerLocalMemory(engine, nullptr, 8, "*", 1));
  EXPECT_EQ(-1, registerLocalMemory(engine, memory.data(), 8, nullptr, 1));
  EXPECT_EQ(0, registerLocalMemory(engine, memory.data() + 1024, 1024, "*", 1));
  EXPECT_EQ(-7, registerLocalMemory(engine, memory.data() + 1024, 1024, "*", 1));
  EXPECT_EQ(-7, registerLocalMemory(engine, memory.data(), 1025, "*", 1));
  EXPECT_EQ(-7, registerLocalMemory(engine, memory.data() + 2047, 1, "*", 1));
  EXPECT_EQ(0, registerLocalMemory(engine, memory.data() + 2048, 1, "*", 1));
  EXPECT_EQ(-3, unregisterLocalMemory(engine, memory.data() + 1025));
  EXPECT_EQ(0, unregisterLocalMemory(engine, memory.data() + 1024));
  EXPECT_EQ(-3, unregisterLocalMemory(engine, memory.data() + 1024));
  EXPECT_EQ(0, unregisterLocalMemory(engine, memory.data() + 2048));
  buffer_entry_t entries[] = {{memory.data(), 512}, {memory.data() + 512, 512}, {memory.data() + 1000, 8}};
  EXPECT_EQ(-7, registerLocalMemoryBatch(engine, entries, 3, "*"));
  EXPECT_EQ(0, registerLocalMemoryBatch(engine, entries, 2, "*"));  // the first try was rolled back
  EXPECT_EQ(0, registerLocalMemoryBatch(engine, nullptr, 0, "*"));
  void* bases[] = {memory.data(), memory.data() + 7, memory.data() + 512};
  EXPECT_EQ(-3, unregisterLocalMemoryBatch(engine, bases, 3));
  EXPECT_EQ(0, registerLocalMemory(engine, memory.data(), 4096, "*", 1));
}

void transfers() {
  Pair pair;
  const batch_id_t batch = allocateBatchID(pair.here, 4);
  transfer_request_t write = pair.request(OPCODE_WRITE, 0, 4096);
  EXPECT_EQ(0, submitTransfer(pair.here, batch, &write, 1));
  EXPECT_EQ(STATUS_COMPLETED, wait_terminal(pair.here, batch, 0));
  EXPECT(pair.memory == pair.source);
  transfer_status_t status{};
  EXPECT_EQ(0, getTransferStatus(pair.here, batch, 0, &status));
  EXPECT_EQ(4096, status.transferred_bytes);
  std::memset(pair.source.data(), 0, 4096);
  transfer_request_t read = pair.request(OPCODE_READ, 8, 4000);
  EXPECT_EQ(0, submitTransfer(pair.here, batch, &read, 1));
  EXPECT_EQ(STATUS_COMPLETED, wait_terminal(pair.here, batch, 1));
  EXPECT(std::memcmp(pair.source.data() + 8, pair.memory.data() + 8, 4000) == 0);
  EXPECT(pair.source[0] == std::byte{0} && pair.source[4008] == std::byte{0});
  transfer_request_t empty = pair.request(OPCODE_WRITE, 0, 0);
  EXPECT_EQ(0, submitTransfer(pair.here, batch, &empty, 1));
  EXPECT_EQ(STATUS_COMPLETED, wait_terminal(pair.here, batch, 2));
  EXPECT_EQ(0, freeBatchID(pair.here, batch));
}

void ranges_are_checked() {
  Pair pair;
  EXPECT_EQ(0, unregisterLocalMemory(pair.there, pair.memory.data()));
  EXPECT_EQ(0, registerLocalMemory(pair.there, pair.memory.data() + 1024, 1024, "*", 1));
  EXPECT_EQ(0, registerLocalMemory(pair.there, pair.memory.data() + 2048, 1024, "*", 1));
  const auto before = pair.memory;
  const std::pair<uint64_t, uint64_t> bad[] = {{1023, 8}, {2040, 16},   {3065, 8},
                                               {0, 8},    {1024, 2048}, {1024, UINT64_MAX}};
  for (const auto& [offset, length] : bad) {
    const batch_id_t batch = allocateBatchID(pair.here, 1);
    transfer_request_t write = pair.request(OPCODE_WRITE, offset, length);
    EXPECT_EQ(0, submitTransfer(pair.here, batch, &write, 1));
    EXPECT_EQ(STATUS_FAILED, wait_terminal(pair.here, batch, 0));
    EXPECT_EQ(0, freeBatchID(pair.here, batch));
  }
  EXPECT(pair.memory == before);
}

void submit_refusals() {
  Pair pair;
  const batch_id_t batch = allocateBatchID(pair.here, 2);
  transfer_request_t requests[3] = {pair.request(OPCODE_WRITE, 0, 8), pair.request(OPCODE_WRITE, 8, 8),
                                    pair.request(OPCODE_WRITE, 16, 8)};
  EXPECT_EQ(2, submitTransfer(pair.here, batch, requests, 3));
  for (const segment_id_t target : {99, -1}) {
    transfer_request_t lost = requests[0];
    lost.target_id = target;
    EXPECT_EQ(1, submitTransfer(pair.here, batch, &lost, 1));
  }
  transfer_request_t strange = requests[0];
  strange.opcode = 7;
  EXPECT_EQ(1, submitTransfer(pair.here, batch, &strange, 1));
  EXPECT_EQ(1, submitTransfer(pair.here, batch, nullptr, 1));
  EXPECT_EQ(0, submitTransfer(pair.here, batch, requests, 0));
  EXPECT_EQ(0, submitTransfer(pair.here, batch, requests, 2));  // untouched by all of that
  EXPECT_EQ(2, submitTransfer(pair.here, batch, requests, 1));  // slots are not used again
  transfer_status_t status{};
  EXPECT_EQ(1, getTransferStatus(pair.here, batch, 2, &status));
  EXPECT_EQ(1, getTransferStatus(pair.here, batch, 0, nullptr));
  for (size_t task : {0, 1}) EXPECT_EQ(STATUS_COMPLETED, wait_terminal(pair.here, batch, task));
  EXPECT_EQ(0, freeBatchID(pair.here, batch));
  for (const batch_id_t junk : {batch, batch_id_t{0}, INVALID_BATCH, batch_id_t{12345}}) {
    EXPECT_EQ(1, freeBatchID(pair.here, junk));
    EXPECT_EQ(1, submitTransfer(pair.here, junk, requests, 1));
    EXPECT_EQ(1, getTransferStatus(pair.here, junk, 0, &status));
  }
  const batch_id_t other = allocateBatchID(pair.there, 1);
  EXPECT_EQ(1, freeBatchID(pair.here, other));
  EXPECT_EQ(0, freeBatchID(pair.there, other));
  EXPECT(allocateBatchID(pair.here, SIZE_MAX) == INVALID_BATCH);
  EXPECT_EQ(-1, registerLocalMemory(nullptr, requests, 8, "*", 1));
  EXPECT(allocateBatchID(nullptr, 1) == INVALID_BATCH);
}

void a_batch_is_busy_until_polled() {
  Pair pair;
  const Undo undo([] { gatun_loopback_fault_release("engine.copy"); });
  EXPECT_EQ(0, gatun_loopback_fault_arm("engine.copy", GATUN_LOOPBACK_FAULT_HANG, 0, 1));
  const batch_id_t batch = allocateBatchID(pair.here, 2);
  transfer_request_t requests[2] = {pair.request(OPCODE_WRITE, 0, 8), pair.request(OPCODE_WRITE, 8, 8)};
  EXPECT_EQ(0, submitTransfer(pair.here, batch, requests, 1));
  eventually("the first task hangs", [] { return gatun_loopback_fault_hanging("engine.copy") == 1; });
  EXPECT_EQ(0, submitTransfer(pair.here, batch, requests + 1, 1));
  transfer_status_t status{};
  EXPECT_EQ(0, getTransferStatus(pair.here, batch, 0, &status));
  EXPECT_EQ(STATUS_WAITING, status.status);
  EXPECT_EQ(STATUS_COMPLETED, wait_terminal(pair.here, batch, 1));
  EXPECT_EQ(4, freeBatchID(pair.here, batch));
  gatun_loopback_fault_release("engine.copy");
  EXPECT_EQ(4, freeBatchID(pair.here, batch));  // finished or not, nobody has seen it
  EXPECT_EQ(STATUS_COMPLETED, wait_terminal(pair.here, batch, 0));
  EXPECT_EQ(0, freeBatchID(pair.here, batch));
}

void notices() {
  Pair pair;
  char name[] = "who";
  char text[] = "bad \xff utf8";
  char good[] = "good";
  EXPECT_EQ(-200, genNotifyInEngine(pair.here, 99, {name, good}));
  EXPECT_EQ(-200, genNotifyInEngine(pair.here, UINT64_MAX, {name, good}));
  EXPECT_EQ(-1, genNotifyInEngine(pair.here, 1, {nullptr, good}));
  EXPECT_EQ(0, genNotifyInEngine(pair.here, 1, {name, text}));
  std::string large((1 << 20) + 1, 'x');
  EXPECT_EQ(-102, genNotifyInEngine(pair.here, 1, {name, large.data()}));
  const batch_id_t batch = allocateBatchID(pair.here, 1);
  transfer_request_t write = pair.request(OPCODE_WRITE, 0, 8);
  EXPECT_EQ(1, submitTransferWithNotify(pair.here, batch, &write, 0, {name, good}));
  EXPECT_EQ(0, submitTransferWithNotify(pair.here, batch, &write, 1, {name, good}));
  EXPECT_EQ(STATUS_COMPLETED, wait_terminal(pair.here, batch, 0));
  EXPECT_EQ(0, freeBatchID(pair.here, batch));
  const batch_id_t failing = allocateBatchID(pair.here, 1);
  transfer_request_t outside = pair.request(OPCODE_WRITE, 4096, 8);
  EXPECT_EQ(0, submitTransferWithNotify(pair.here, failing, &outside, 1, {name, good}));
  EXPECT_EQ(STATUS_FAILED, wait_terminal(pair.here, failing, 0));
  EXPECT_EQ(0, freeBatchID(pair.here, failing));
  int size = 7;
  notify_msg_t* const messages = getNotifsFromEngine(pair.there, &size);
  EXPECT_EQ(2, size);
  if (messages != nullptr && size == 2) {
    EXPECT(std::strcmp(messages[0].name, "who") == 0);
    EXPECT(std::strcmp(messages[0].msg, "bad \xef\xbf\xbd utf8") == 0);
    EXPECT(std::strcmp(messages[1].msg, "good") == 0);
  }
  EXPECT_EQ(0, freeNotifsMsgBuf(messages, size));
  EXPECT_EQ(-1, freeNotifsMsgBuf(messages, size));
  EXPECT_EQ(0, freeNotifsMsgBuf(nullptr, 0));
  EXPECT(getNotifsFromEngine(pair.there, &size) == nullptr);
  EXPECT_EQ(0, size);
}

void a_peer_that_is_gone() {
  const TestEngine here;
  std::vector<std::byte> memory(64);
  std::string name;
  {
    const TestEngine there;
    name = there.name();
    EXPECT_EQ(0, registerLocalMemory(there, memory.data(), 64, "*", 1));
    EXPECT_EQ(1, openSegment(here, name.c_str()));
  }
  EXPECT_EQ(1, openSegmentNoCache(here, name.c_str()));
  EXPECT_EQ(0, syncSegmentCache(here));
  char text[] = "x";
  EXPECT_EQ(-102, genNotifyInEngine(here, 1, {text, text}));
  const batch_id_t batch = allocateBatchID(here, 1);
  transfer_request_t write{OPCODE_WRITE, memory.data(), 1, address(memory.data()), 8};
  EXPECT_EQ(0, submitTransfer(here, batch, &write, 1));
  EXPECT_EQ(STATUS_FAILED, wait_terminal(here, batch, 0));
  EXPECT_EQ(0, freeBatchID(here, batch));
}

void destroy_with_work_queued() {
  const Undo undo([] { gatun_loopback_fault_release("engine.copy"); });
  const TestEngine there;
  std::vector<std::byte> memory(64);
  std::vector<std::byte> source(64, std::byte{1});
  EXPECT_EQ(0, registerLocalMemory(there, memory.data(), 64, "*", 1));
  const transfer_engine_t here = createTransferEngine("P2PHANDSHAKE", "127.0.0.1:1", "127.0.0.1", 0, 1);
  const segment_id_t id = openSegment(here, there.name().c_str());
  EXPECT_EQ(0, gatun_loopback_fault_arm("engine.copy", GATUN_LOOPBACK_FAULT_HANG, 0, 0));
  const int64_t live = gatun_loopback_live_batches();
  const batch_id_t batch = allocateBatchID(here, 1);
  transfer_request_t write{OPCODE_WRITE, source.data(), id, address(memory.data()), 8};
  EXPECT_EQ(0, submitTransfer(here, batch, &write, 1));
  eventually("it hangs", [] { return gatun_loopback_fault_hanging("engine.copy") == 1; });
  destroyTransferEngine(here);
  EXPECT_EQ(live, gatun_loopback_live_batches());
  gatun_loopback_fault_release("engine.copy");
  eventually("nothing hangs", [] { return gatun_loopback_fault_hanging("engine.copy") == 0; });
  EXPECT_EQ(0, unregisterLocalMemory(there, memory.data()));
  EXPECT(memory[0] == std::byte{0});  // its engine was gone: no byte moved
}

}  // namespace

const std::vector<Check>& engine_checks() {
  static const std::vector<Check> checks = {
      {"engines, names and segments", create_and_names},
      {"an engine without a transport", without_a_transport},
      {"registrations", registrations},
      {"transfers", transfers},
      {"target ranges are checked", ranges_are_checked},
      {"submit refuses and leaves the batch as it was", submit_refusals},
      {"a batch is busy until polled", a_batch_is_busy_until_polled},
      {"notices", notices},
      {"a peer that is gone", a_peer_that_is_gone},
      {"destroy with work queued", destroy_with_work_queued},
  };
  return checks;
}
