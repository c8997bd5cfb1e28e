// SPDX-License-Identifier: Apache-2.0
#pragma once

// The declarations of what this library exports; everything else in it is hidden. Include them through this file only:
// the first declaration decides.
#pragma GCC visibility push(default)
#include "gatun_loopback.h"
#include "mooncake_store.h"
#include "mooncake_transfer_engine.h"
#pragma GCC visibility pop
