// SPDX-License-Identifier: Apache-2.0
#include "engine_notices.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace gatun::loopback {
namespace {

// Length of the well-formed UTF-8 sequence at the front, 0 when there is none.
size_t sequence_bytes(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && at(i) >= low && at(i) <= high;
  };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;   // no overlong form
    const unsigned high = lead == 0xed ? 0x9f : 0xbf;  // no surrogate
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;  // not above U+10FFFF
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

struct Issued {
  std::mutex mutex;
  std::map<notify_msg_t*, size_t> count_of;
};

Issued& issued_arrays() {
  static Issued* const instance = new Issued;
  return *instance;
}

void free_array(notify_msg_t* array, size_t count) {
  for (size_t i = 0; i < count; i++) {
    std::free(array[i].name);
    std::free(array[i].msg);
  }
  std::free(array);
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t good = sequence_bytes(bytes);
    text += good == 0 ? std::string_view("\xef\xbf\xbd") : bytes.substr(0, good);
    bytes.remove_prefix(good == 0 ? 1 : good);
  }
  return text;
}

notify_msg_t* issue_notices(const std::vector<Notice>& notices) {
  auto* const array = static_cast<notify_msg_t*>(std::calloc(notices.size(), sizeof(notify_msg_t)));
  if (array == nullptr) throw std::bad_alloc();
  try {
    for (size_t i = 0; i < notices.size(); i++) {
      array[i].name = strdup(notices[i].name.c_str());
      array[i].msg = strdup(notices[i].text.c_str());
      if (array[i].name == nullptr || array[i].msg == nullptr) throw std::bad_alloc();
    }
    const std::lock_guard lock(issued_arrays().mutex);
    issued_arrays().count_of.emplace(array, notices.size());
  } catch (...) {
    free_array(array, notices.size());
    throw;
  }
  return array;
}

bool take_back_notices(notify_msg_t* array) {
  size_t count;
  {
    const std::lock_guard lock(issued_arrays().mutex);
    const auto found = issued_arrays().count_of.find(array);
    if (found == issued_arrays().count_of.end()) return false;
    count = found->second;
    issued_arrays().count_of.erase(found);
  }
  free_array(array, count);
  return true;
}

}  // namespace gatun::loopback
