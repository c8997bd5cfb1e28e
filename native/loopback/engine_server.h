// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "engine_channel.h"
#include "engine_wire.h"

namespace gatun::loopback {

class Endpoint;

// Serves engines of other processes of the same user: one thread listens, one a connection. The bytes of a transfer are
// received into, or sent from, the registered region itself.
class EngineServer {
 public:
  explicit EngineServer(Endpoint& endpoint) : endpoint_(endpoint) {}
  // Hangs up on everybody and waits for its threads.
  ~EngineServer();
  EngineServer(const EngineServer&) = delete;
  EngineServer& operator=(const EngineServer&) = delete;

  Listener::Result listen(const std::string& name);

 private:
  struct Connection {
    static constexpr int64_t kInCall = 0;
    static constexpr int64_t kHungUp = -1;

    Channel channel;
    std::thread thread;
    std::atomic<int64_t> idle_since_nanos{kInCall};
    std::atomic<bool> fresh{false};  // greeted, and not called yet
    bool over = false;

    // False for one that was hung up on: whoever called tries again on another, so nothing is carried out here.
    bool begin_call();
  };

  void accept_all();
  void drop_ended();
  // Whether one more may come, hanging up on the one that has been idle for longest where that takes it. One that was
  // just greeted is spared, since its peer would take that for a refusal; with nothing but such and running calls the
  // newcomer is refused.
  bool make_room();
  void serve(Connection& connection);
  bool serve_one(Connection& connection);
  bool greet(Channel& channel);
  bool write(Channel& channel, const WireHead& head);
  bool read(Channel& channel, const WireHead& head);
  bool notice(Channel& channel, const WireHead& head);

  Endpoint& endpoint_;
  Listener listener_;
  std::thread acceptor_;
  std::mutex mutex_;
  std::list<Connection> connections_;
};

}  // namespace gatun::loopback
