// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace gatun::loopback {

// A connected stream socket between two engines of one user on one machine. One thread at a time, but for
// shut_down.
class Channel {
 public:
  Channel() = default;
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();
  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  // False when the other end is gone, shut down, or takes or gives nothing for as long as limit_waits says.
  bool send(const void* bytes, size_t count);
  bool receive(void* bytes, size_t count);
  void limit_waits(std::chrono::milliseconds longest);
  // The other end has not hung up and has sent nothing that was not asked for.
  bool quiet() const;
  // The kernel says that a process of this user is at the other end.
  bool same_user() const;
  // Ends the waits of whichever thread is using it.
  static void shut_down(int descriptor);

  // Empty when nobody of this user listens under the name.
  static Channel connect(const std::string& name);

 private:
  int descriptor_ = -1;
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
};

}  // namespace gatun::loopback
