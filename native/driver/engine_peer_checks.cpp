// SPDX-License-Identifier: Apache-2.0
// Engines of different processes.
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

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

// What a write to a frozen peer has left in its socket is applied when it goes on: so it has not failed until then, and
// what has failed was never sent.
void a_write_to_a_peer_that_is_frozen() {
  PeerProcess peer;
  const TestEngine here;
  const segment_id_t id = openSegment(here, peer.name().c_str());
  constexpr size_t kTasks = 16;  // more than there are threads
  constexpr uint64_t kPart = PeerProcess::kBytes / kTasks;
  std::vector<std::byte> memory(PeerProcess::kBytes);
  fill_page(memory.data(), "frozen", memory.size(), 11);
  std::vector<std::byte> expected(PeerProcess::kBytes);
  fill_page(expected.data(), "peer", expected.size(), 7);
  std::vector<transfer_request_t> requests;
  for (size_t i = 0; i < kTasks; i++)
    requests.push_back({OPCODE_WRITE, memory.data() + i * kPart, id, peer.address() + i * kPart, kPart});
  const batch_id_t batch = allocateBatchID(here, kTasks);
  // The idle connection is used up by the first; others are made while the peer still greets.
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_READ, expected.data(), id, peer.address(), kPart}));
  EXPECT_EQ(0, gatun_loopback_fault_arm("engine.progress", GATUN_LOOPBACK_FAULT_FAIL, 50, 0));
  peer.send(SIGSTOP);
  EXPECT_EQ(0, submitTransfer(here, batch, requests.data(), kTasks));
  const auto status_of = [&](size_t task) {
    transfer_status_t status{-1, 0};
    EXPECT_EQ(0, getTransferStatus(here, batch, task, &status));
    return status.status;
  };
  for (size_t i = kTasks / 2; i < kTasks; i++) EXPECT_EQ(STATUS_FAILED, wait_terminal(here, batch, i));
  std::vector<bool> failed(kTasks);
  for (size_t i = 0; i < kTasks; i++) failed[i] = status_of(i) == STATUS_FAILED;
  // Nothing more is sent to it, and nothing waits.
  EXPECT_EQ(STATUS_FAILED, run_one(here, requests.back()));
  peer.send(SIGCONT);
  gatun_loopback_fault_release("engine.progress");
  std::vector<std::byte> back(PeerProcess::kBytes);
  for (size_t i = 0; i < kTasks; i++) {
    if (wait_terminal(here, batch, i) == STATUS_COMPLETED)
      std::copy_n(memory.begin() + static_cast<ptrdiff_t>(i * kPart), kPart,
                  expected.begin() + static_cast<ptrdiff_t>(i * kPart));
  }
  EXPECT_EQ(0, freeBatchID(here, batch));
  eventually("the peer takes writes again", [&] { return run_one(here, requests.back()) == STATUS_COMPLETED; });
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_READ, back.data(), id, peer.address(), back.size()}));
  for (size_t i = 0; i < kTasks - 1; i++) {
    const auto begin = static_cast<ptrdiff_t>(i * kPart);
    if (failed[i]) EXPECT(std::equal(back.begin() + begin, back.begin() + begin + kPart, expected.begin() + begin));
  }
}

// A push must not go on in the memory of whoever has the name of a peer that is gone.
void a_peer_that_was_started_anew() {
  const TestEngine here;
  std::vector<std::byte> memory(PeerProcess::kBytes);
  auto first = std::make_unique<PeerProcess>();
  const std::string name = first->name();
  const segment_id_t before = openSegment(here, name.c_str());
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_WRITE, memory.data(), before, first->address(), memory.size()}));
  first->send(SIGKILL);
  first.reset();
  PeerProcess second(name);
  EXPECT(second.name() == name);
  char text[] = "x";
  const auto expect_refused = [&] {
    for (const int opcode : {OPCODE_WRITE, OPCODE_READ})
      EXPECT_EQ(STATUS_FAILED, run_one(here, {opcode, memory.data(), before, second.address(), memory.size()}));
    EXPECT_EQ(-102, genNotifyInEngine(here, static_cast<uint64_t>(before), {text, text}));
  };
  expect_refused();
  EXPECT_EQ(before, openSegment(here, name.c_str()));
  const segment_id_t since = openSegmentNoCache(here, name.c_str());
  EXPECT_EQ(before + 1, since);
  EXPECT_EQ(since, openSegment(here, name.c_str()));
  EXPECT_EQ(0, syncSegmentCache(here));
  expect_refused();
  EXPECT(second.notices().empty());
  std::vector<std::byte> expected(PeerProcess::kBytes);
  fill_page(expected.data(), "peer", expected.size(), 7);
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_READ, memory.data(), since, second.address(), memory.size()}));
  EXPECT(memory == expected);
}

// A plain connection to an engine, which says nothing; -1 if it cannot be had.
int connect_to(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "gatun-engine:" + name;
  path.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  EXPECT_EQ(0, connect(descriptor, reinterpret_cast<const sockaddr*>(&address), size));
  return descriptor;
}

// Connections that nobody uses make room for one that somebody wants.
void more_connections_than_there_may_be() {
  const PeerProcess peer;
  const TestEngine here;
  const segment_id_t id = openSegment(here, peer.name().c_str());
  std::vector<int> idle;
  for (int i = 0; i < 100; i++) idle.push_back(connect_to(peer.name()));
  std::vector<std::byte> memory(4096);
  // Its own connection was the first to go, and it makes another.
  EXPECT_EQ(STATUS_COMPLETED, run_one(here, {OPCODE_WRITE, memory.data(), id, peer.address(), memory.size()}));
  const TestEngine late;
  EXPECT_EQ(1, openSegment(late, peer.name().c_str()));
  for (const int descriptor : idle) close(descriptor);
}

// Says to an engine what is to be done on a plain connection.
void call(int connection, uint32_t what, uint64_t address, uint64_t length) {
  const struct {
    uint32_t magic = 0x67546532;
    uint32_t call;
    uint64_t address;
    uint64_t length;
  } head{.call = what, .address = address, .length = length};
  EXPECT_EQ(sizeof head, send(connection, &head, sizeof head, 0));
}

// A byte that an engine may write just then, which is what is to be seen.
__attribute__((no_sanitize("thread"))) std::byte glance(const std::byte& place) {
  return const_cast<const volatile std::byte&>(place);
}

// Begins a write and stops after its first byte.
int stopped_write(const TestEngine& engine, std::byte* target, uint64_t length) {
  const int connection = connect_to(engine.name());
  call(connection, 2, reinterpret_cast<uint64_t>(target), length);
  const std::byte first{0xee};
  EXPECT_EQ(1, send(connection, &first, 1, 0));
  eventually("it has begun to land", [&] { return glance(*target) == first; });
  return connection;
}

// A connection that was just greeted does not make room for another: its peer would take that for a refusal.
void a_connection_that_was_just_greeted() {
  constexpr size_t kOthers = 63;
  constexpr uint64_t kPart = 64;
  const TestEngine here;
  std::vector<std::byte> memory(kOthers * kPart);
  EXPECT_EQ(0, registerLocalMemory(here, memory.data(), memory.size(), "*", 1));
  std::vector<int> connections;
  for (size_t i = 0; i < kOthers; i++) connections.push_back(stopped_write(here, memory.data() + i * kPart, kPart));
  const int greeted = connect_to(here.name());
  call(greeted, 1, 0, 0);
  std::byte greeting[16];
  EXPECT_EQ(sizeof greeting, recv(greeted, greeting, sizeof greeting, MSG_WAITALL));
  const int late = connect_to(here.name());
  pollfd hung_up[] = {{greeted, POLLIN, 0}, {late, POLLIN, 0}};
  EXPECT_EQ(1, poll(hung_up, 2, 10'000));
  EXPECT_EQ(0, hung_up[0].revents);
  call(greeted, 3, reinterpret_cast<uint64_t>(memory.data()), 1);
  struct {
    uint32_t magic;
    int32_t good;
    std::byte byte;
  } answer{};
  constexpr size_t kAnswerBytes = 9;
  EXPECT_EQ(kAnswerBytes, recv(greeted, &answer, kAnswerBytes, MSG_WAITALL));
  EXPECT_EQ(1, answer.good);
  EXPECT(answer.byte == std::byte{0xee});
  connections.push_back(greeted);
  connections.push_back(late);
  for (const int descriptor : connections) close(descriptor);
}

// Where the process has no descriptor left an engine still ends.
void destroyed_without_descriptors() {
  const transfer_engine_t engine = createTransferEngine("P2PHANDSHAKE", "127.0.0.1:1", "127.0.0.1", 0, 1);
  char name[128];
  EXPECT_EQ(0, getLocalIpAndPort(engine, name, sizeof name));
  std::vector<int> taken{connect_to(name)};
  rlimit before{};
  EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
  // Whoever accepts has one descriptor in its hand: after this connection it has none.
  const rlimit low{static_cast<rlim_t>(taken[0]) + 1, before.rlim_max};
  EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
  for (int more = dup(taken[0]); more >= 0; more = dup(taken[0])) taken.push_back(more);
  std::atomic<bool> ended{false};
  std::thread destroying([&] {
    destroyTransferEngine(engine);
    ended = true;
  });
  const auto began = std::chrono::steady_clock::now();
  while (!ended && std::chrono::steady_clock::now() - began < std::chrono::seconds(10)) std::this_thread::yield();
  EXPECT(ended);
  EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
  for (const int descriptor : taken) close(descriptor);
  destroying.join();
}

// A peer that stops in the middle of what it sends does not keep memory registered for long, nor for good.
void unregistered_under_a_write() {
  const TestEngine here;
  std::vector<std::byte> memory(4096);
  EXPECT_EQ(0, registerLocalMemory(here, memory.data(), memory.size(), "*", 1));
  const int peer = stopped_write(here, memory.data(), memory.size());
  EXPECT_EQ(-4, unregisterLocalMemory(here, memory.data()));
  close(peer);
  eventually("it is let go", [&] { return unregisterLocalMemory(here, memory.data()) == 0; });
}

}  // namespace

const std::vector<Check>& engine_peer_checks() {
  static const std::vector<Check> checks = {
      {"bytes cross to another process and back", bytes_cross},
      {"many transfers at once to another process", many_at_once},
      {"ranges are checked in the other process", ranges_are_checked_there},
      {"messages cross to another process", messages_cross},
      {"a peer process that is killed", a_peer_that_is_killed},
      {"a peer process that was started anew under its name", a_peer_that_was_started_anew},
      {"a peer process that is frozen", a_peer_that_is_frozen},
      {"a write to a peer process that is frozen", a_write_to_a_peer_that_is_frozen},
      {"more connections than there may be", more_connections_than_there_may_be},
      {"a connection that was just greeted makes no room", a_connection_that_was_just_greeted},
      {"an engine that ends without a descriptor left", destroyed_without_descriptors},
      {"memory that is unregistered under a write", unregistered_under_a_write},
  };
  return checks;
}
