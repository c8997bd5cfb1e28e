// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace gatun::loopback {

// A connected stream socket between two engines of one user on one machine. One thread at a time, but for
// shut_down.
class Channel {
 public:
  Channel() = default;
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), limit_(other.limit_), timed_out_(other.timed_out_) {}
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();
  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  // False when the other end is gone, shut down, or takes or gives nothing for as long as limit_waits says.
  bool send(const void* bytes, size_t count);
  bool receive(void* bytes, size_t count);
  void limit_waits(std::chrono::milliseconds longest);
  // The last of them that failed did so because nothing was taken or given for that long.
  bool timed_out() const { return timed_out_; }
  // Tells the other end that nothing follows.
  void finish_sending();
  // Waits, for as long as it takes, until the other end has sent something or hung up.
  void await_other_end() const;
  // The other end has not hung up and has sent nothing that was not asked for.
  bool quiet() const;
  // The kernel says that a process of this user is at the other end.
  bool same_user() const;
  // Ends the waits of whichever thread is using it.
  static void shut_down(int descriptor);

  // Empty when nobody of this user listens under the name.
  static Channel connect(const std::string& name);

 private:
  bool failed();

  int descriptor_ = -1;
  std::chrono::milliseconds limit_{0};
  bool timed_out_ = false;
};

// A name in the abstract namespace, gone with the process.
class Listener {
 public:
  enum class Result { kListening, kTaken, kUnavailable };

  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  Result open(const std::string& name);
  // Empty once shut down.
  Channel accept();
  void shut_down();

 private:
  int descriptor_ = -1;
  std::mutex mutex_;
  std::condition_variable shut_;
  bool is_shut_ = false;
};

}  // namespace gatun::loopback
