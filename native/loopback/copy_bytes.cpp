// SPDX-License-Identifier: Apache-2.0
#include "copy_bytes.h"

#include <cstring>

namespace gatun::loopback {

void copy_bytes(void* target, const void* source, size_t bytes) {
  std::memcpy(target, source, bytes);
}

}  // namespace gatun::loopback
