// SPDX-License-Identifier: Apache-2.0
#include "worker_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <system_error>
#include <thread>

namespace gatun::loopback {

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

}  // namespace gatun::loopback
