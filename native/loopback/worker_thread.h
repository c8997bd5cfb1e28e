// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace gatun::loopback {

// Cores that this process may run on, at least 1.
size_t usable_cores();

// Starts a thread that runs until the process ends. It takes no signals: those belong to the host's own threads.
// False when the system refuses one more thread.
bool start_worker(const char* name, std::function<void()> body);

}  // namespace gatun::loopback
