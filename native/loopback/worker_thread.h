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

// Runs the body on a thread with a large stack and waits for its end; what it throws is thrown here. For code that
// recurses: the caller may be a thread of a virtual machine with little stack left, and an overflow in native code ends
// the process.
void run_on_large_stack(const std::function<void()>& body);

}  // namespace gatun::loopback
