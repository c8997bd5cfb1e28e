// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "engine_endpoint.h"

namespace gatun::loopback {

// A real engine refuses a longer handshake message.
inline constexpr size_t kMaxNoticeBytes = 1 << 20;

// Notices travel as JSON: what is not UTF-8 becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

// Notices in malloc'd C form, remembered until they are given back.
notify_msg_t* issue_notices(const std::vector<Notice>& notices);
// False for an array that was not issued or was given back already.
bool take_back_notices(notify_msg_t* issued);

}  // namespace gatun::loopback
