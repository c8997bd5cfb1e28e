// SPDX-License-Identifier: Apache-2.0
#include "worker_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <exception>
#include <system_error>
#include <thread>

namespace gatun::loopback {
namespace {

// Ten times what compiling the longest pattern takes without optimisation; pages that are not touched cost nothing.
constexpr size_t kLargeStackBytes = 16 << 20;

struct RoomyCall {
  const std::function<void()>* body;
  std::exception_ptr failure;

  static void* run(void* self) {
    auto* const call = static_cast<RoomyCall*>(self);
    try {
      (*call->body)();
    } catch (...) {
      call->failure = std::current_exception();
    }
    return nullptr;
  }
};

}  // namespace

size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines with more cores than the set holds; then all count.
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                                : static_cast<int>(std::thread::hardware_concurrency());
  return count < 1 ? 1 : static_cast<size_t>(count);
}

bool start_worker(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread inherits the mask
  bool started = true;
  try {
    std::thread thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
    thread.detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void run_on_large_stack(const std::function<void()>& body) {
  RoomyCall call{&body, nullptr};
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes); error != 0)
    throw std::system_error(error, std::system_category());
  pthread_attr_setstacksize(&attributes, kLargeStackBytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, &RoomyCall::run, &call);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::system_category());
  pthread_join(thread, nullptr);
  if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace gatun::loopback
