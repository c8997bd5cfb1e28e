// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace gatun::loopback {

// How the bytes of a batch are written. Streaming leaves the caches alone and saves reading the target first: faster
// once a batch is larger than the caches, slower before.
enum class Writes { kCached, kStreaming };

// One copy by the calling thread.
void copy_bytes(void* target, const void* source, size_t bytes, Writes writes);

}  // namespace gatun::loopback
