// SPDX-License-Identifier: Apache-2.0
#include "key_pattern.h"

#include <algorithm>
#include <string>

#include "mutants.h"

namespace gatun::loopback {
namespace {

int group_depth(std::string_view pattern) {
  int depth = 0;
  int deepest = 0;
  for (size_t i = 0; i < pattern.size(); i++) {
    // Brackets inside a character class count as well: an over-estimate is harmless.
    if (pattern[i] == '\\') {
      i++;
    } else if (pattern[i] == '(') {
      deepest = std::max(deepest, ++depth);
    } else if (pattern[i] == ')') {
      depth--;
    }
  }
  return deepest;
}

}  // namespace

std::optional<KeyPattern> KeyPattern::compile(std::string_view pattern) {
  if (pattern.size() > kMaxBytes || group_depth(pattern) > kMaxGroupDepth) return std::nullopt;
  namespace flags = std::regex_constants;
  constexpr auto kFlags = flags::ECMAScript | flags::__polynomial | flags::nosubs | flags::optimize;
  try {
    std::regex alone(pattern.begin(), pattern.end(), kFlags);  // a stray ')' would close the group below
    // Searching starts afresh at each character, which is quadratic; one pass over a pattern that may begin anywhere is
    // not.
    return KeyPattern(std::move(alone), std::regex("[^]*(?:" + std::string(pattern) + ")", kFlags));
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

bool KeyPattern::matches(std::string_view key) const {
  constexpr auto kAtStart = std::regex_constants::match_continuous;
  if (mutant(Mutant::kRegexRemovesAll)) return true;
  if (mutant(Mutant::kRegexAnchored)) return std::regex_search(key.begin(), key.end(), anchored_, kAtStart);
  return std::regex_search(key.begin(), key.end(), anywhere_, kAtStart);
}

}  // namespace gatun::loopback
