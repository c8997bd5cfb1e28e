// SPDX-License-Identifier: Apache-2.0
#include "engine_server.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <iterator>
#include <new>
#include <system_error>

#include "engine_endpoint.h"
#include "engine_notices.h"

#ifdef __SANITIZE_THREAD__
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
#endif

namespace gatun::loopback {
namespace {

// Moves bytes of registered memory, as a network card would: which call comes before which is for the peers to see to.
// They know by answers, and from the answer on one connection to a call on another TSan sees no way.
template <typename Move>
bool moved(Move move) {
#ifdef __SANITIZE_THREAD__
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);  // of reads and writes alike
  const bool done = move();
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  return done;
#else
  return move();
#endif
}

// More than the transfer threads of ten processes; a connection beyond them takes the place of one that is idle.
// Unmeasured default.
constexpr int64_t kMaxConnections = 64;

int64_t steady_nanos() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// It takes no signals: those belong to the host's own threads. Not running when the system refuses one more.
std::thread start(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error&) {
    // whoever asked sees that it does not run
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

bool answer(Channel& channel, bool good) {
  const WireAnswer reply{kWireMagic, good ? 1 : 0};
  return channel.send(&reply, sizeof reply);
}

}  // namespace

Listener::Result EngineServer::listen(const std::string& name) {
  const Listener::Result result = listener_.open(name);
  if (result != Listener::Result::kListening) return result;
  acceptor_ = start([this] { accept_all(); });
  return acceptor_.joinable() ? result : Listener::Result::kUnavailable;
}

EngineServer::~EngineServer() {
  listener_.shut_down();
  if (acceptor_.joinable()) acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (Connection& connection : connections_) Channel::shut_down(connection.channel.descriptor());
  }
  for (Connection& connection : connections_) connection.thread.join();
}

void EngineServer::accept_all() {
  for (;;) {
    Channel channel = listener_.accept();
    if (!channel) return;
    if (!channel.same_user()) continue;
    drop_ended();
    const std::lock_guard lock(mutex_);
    if (!make_room()) continue;
    Connection& connection = connections_.emplace_back();
    connection.channel = std::move(channel);
    connection.thread = start([this, &connection] { serve(connection); });
    if (!connection.thread.joinable()) connections_.pop_back();
  }
}

bool EngineServer::make_room() {
  const int64_t greeted_lately = steady_nanos() - std::chrono::nanoseconds(kWireGreeting).count();
  int64_t live = 0;
  Connection* idlest = nullptr;
  int64_t idlest_since = 0;
  for (Connection& connection : connections_) {
    const int64_t since = connection.idle_since_nanos;
    if (since == Connection::kHungUp || connection.over) continue;
    live++;
    const bool spared = since == Connection::kInCall || (connection.fresh && since > greeted_lately);
    if (spared || (idlest != nullptr && since >= idlest_since)) continue;
    idlest = &connection;
    idlest_since = since;
  }
  if (live < kMaxConnections) return true;
  if (idlest == nullptr) return false;
  // a call may have begun on it just now
  if (!idlest->idle_since_nanos.compare_exchange_strong(idlest_since, Connection::kHungUp)) return make_room();
  Channel::shut_down(idlest->channel.descriptor());
  return true;
}

bool EngineServer::Connection::begin_call() {
  int64_t since = idle_since_nanos;
  return since != kHungUp && idle_since_nanos.compare_exchange_strong(since, kInCall);
}

void EngineServer::drop_ended() {
  std::list<Connection> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = connections_.begin(); it != connections_.end();) {
      const auto next = std::next(it);
      if (it->over) ended.splice(ended.end(), connections_, it);
      it = next;
    }
  }
  for (Connection& connection : ended) connection.thread.join();
}

void EngineServer::serve(Connection& connection) {
  try {
    do {
      connection.idle_since_nanos = steady_nanos();
    } while (serve_one(connection));
  } catch (const std::bad_alloc&) {
    // a peer that finds no memory here is hung up on
  }
  Channel::shut_down(connection.channel.descriptor());
  const std::lock_guard lock(mutex_);
  connection.over = true;
}

// Between two calls a peer may be silent for as long as it likes; within one it may not.
bool EngineServer::serve_one(Connection& connection) {
  Channel& channel = connection.channel;
  WireHead head{};
  channel.limit_waits({});
  if (!channel.receive(&head, sizeof head) || head.magic != kWireMagic) return false;
  if (!connection.begin_call()) return false;
  connection.fresh = head.call == WireCall::kHello;
  channel.limit_waits(kWireProgress);
  switch (head.call) {
    case WireCall::kHello:
      return greet(channel);
    case WireCall::kWrite:
      return write(channel, head);
    case WireCall::kRead:
      return read(channel, head);
    case WireCall::kNotice:
      return notice(channel, head);
  }
  return false;
}

bool EngineServer::greet(Channel& channel) {
  const WireGreeting greeting{kWireMagic, 0, endpoint_.instance()};
  return channel.send(&greeting, sizeof greeting);
}

bool EngineServer::write(Channel& channel, const WireHead& head) {
  const RegionTable::Use use = endpoint_.regions().use(head.address, head.length);
  if (!use || use.usable_bytes() < head.length) return false;
  return moved([&] { return channel.receive(reinterpret_cast<void*>(head.address), head.length); }) &&
         answer(channel, true);
}

bool EngineServer::read(Channel& channel, const WireHead& head) {
  const RegionTable::Use use = endpoint_.regions().use(head.address, head.length);
  if (!use || use.usable_bytes() < head.length) return answer(channel, false);
  return answer(channel, true) &&
         moved([&] { return channel.send(reinterpret_cast<const void*>(head.address), head.length); });
}

bool EngineServer::notice(Channel& channel, const WireHead& head) {
  if (head.address > kMaxNoticeBytes || head.length > kMaxNoticeBytes) return false;
  Notice notice{std::string(head.address, '\0'), std::string(head.length, '\0')};
  if (!channel.receive(notice.name.data(), head.address) || !channel.receive(notice.text.data(), head.length))
    return false;
  return answer(channel, endpoint_.deliver(std::move(notice)));
}

}  // namespace gatun::loopback
