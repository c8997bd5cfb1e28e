// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <regex>
#include <string_view>
#include <utility>

namespace gatun::loopback {

// An ECMAScript pattern searched for anywhere in a key. Safe for keys of any length: the usual matcher of std::regex
// recurses once a character and overflows the stack, so the breadth-first one is used. It knows no back-references.
class KeyPattern {
 public:
  // Longer or deeper patterns are refused: compiling one recurses once a term. Unmeasured defaults.
  static constexpr size_t kMaxBytes = 4096;  // a literal of 1,024 bytes, each escaped, behind a long prefix
  static constexpr int kMaxGroupDepth = 32;

  // Empty when the pattern is not valid, too long, too deep, or has back-references.
  static std::optional<KeyPattern> compile(std::string_view pattern);

  bool matches(std::string_view key) const;

 private:
  KeyPattern(std::regex anchored, std::regex anywhere)
      : anchored_(std::move(anchored)), anywhere_(std::move(anywhere)) {}

  std::regex anchored_;  // for the mutant that does not search
  std::regex anywhere_;
};

}  // namespace gatun::loopback
