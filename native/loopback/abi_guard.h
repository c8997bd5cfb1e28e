// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "abi.h"

namespace gatun::loopback {

// No exception crosses the C boundary: it becomes the given answer.
template <typename Answer, typename Body>
Answer guarded(Answer on_exception, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return on_exception;
  }
}

}  // namespace gatun::loopback
