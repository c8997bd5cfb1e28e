// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Handles that were created and not yet destroyed, for leak checks.
namespace gatun::loopback {

int64_t live_stores();
int64_t live_engines();
int64_t live_batches();

}  // namespace gatun::loopback
