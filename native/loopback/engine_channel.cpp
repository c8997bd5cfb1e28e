// SPDX-License-Identifier: Apache-2.0
#include "engine_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace gatun::loopback {
namespace {

constexpr char kPrefix[] = "gatun-engine:";
constexpr int kBacklog = 64;
// How long to wait before trying again where the system is out of descriptors.
constexpr std::chrono::milliseconds kShortage{10};

// Abstract names begin with a zero byte and need no file. 0 when the name does not fit.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  std::memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  const std::string path = kPrefix + name;
  if (path.size() + 1 > sizeof address.sun_path) return 0;
  path.copy(address.sun_path + 1, path.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
}

}  // namespace

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    limit_ = other.limit_;
    timed_out_ = other.timed_out_;
  }
  return *this;
}

Channel::~Channel() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Channel::send(const void* bytes, size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(descriptor_, at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return failed();
    at += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

bool Channel::receive(void* bytes, size_t count) {
  auto* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t received = recv(descriptor_, at, count, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received == 0) errno = ECONNRESET;  // it has hung up
    if (received <= 0) return failed();
    at += received;
    count -= static_cast<size_t>(received);
  }
  return true;
}

bool Channel::failed() {
  timed_out_ = errno == EAGAIN || errno == EWOULDBLOCK;
  return false;
}

void Channel::finish_sending() {
  shutdown(descriptor_, SHUT_WR);
}

void Channel::await_other_end() const {
  pollfd other{descriptor_, POLLIN, 0};
  while (poll(&other, 1, -1) < 0 && errno == EINTR) {
  }
}

void Channel::limit_waits(std::chrono::milliseconds longest) {
  if (longest == limit_) return;
  limit_ = longest;
  const timeval limit{longest.count() / 1000, (longest.count() % 1000) * 1000};
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool Channel::quiet() const {
  char byte;
  return recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool Channel::same_user() const {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

void Channel::shut_down(int descriptor) {
  shutdown(descriptor, SHUT_RDWR);
}

Channel Channel::connect(const std::string& name) {
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  if (size == 0) return {};
  Channel channel(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!channel) return {};
  constexpr std::chrono::seconds kConnect{5};  // as the real engine's handshake
  channel.limit_waits(kConnect);
  if (::connect(channel.descriptor(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return channel.same_user() ? std::move(channel) : Channel();
}

Listener::~Listener() {
  if (descriptor_ >= 0) close(descriptor_);
}

Listener::Result Listener::open(const std::string& name) {
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  if (size == 0) return Result::kUnavailable;
  descriptor_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return Result::kUnavailable;
  const bool bound = bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size) == 0;
  const bool taken = !bound && errno == EADDRINUSE;
  if (bound && listen(descriptor_, kBacklog) == 0) return Result::kListening;
  close(std::exchange(descriptor_, -1));
  return taken ? Result::kTaken : Result::kUnavailable;
}

Channel Listener::accept() {
  for (;;) {
    Channel channel(accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC));
    if (channel) return channel;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // it answers so even when it is shut down
      std::unique_lock lock(mutex_);
      if (shut_.wait_for(lock, kShortage, [&] { return is_shut_; })) return {};
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return {};
    }
  }
}

void Listener::shut_down() {
  {
    const std::lock_guard lock(mutex_);
    is_shut_ = true;
  }
  shut_.notify_all();
  shutdown(descriptor_, SHUT_RDWR);
}

}  // namespace gatun::loopback
