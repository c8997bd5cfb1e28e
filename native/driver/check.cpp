// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <cstdio>
#include <mutex>

namespace {

std::mutex mutex;
int64_t failures = 0;
std::string first;
bool printing = true;

}  // namespace

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto* some : {&store_checks(), &removal_checks(), &fault_checks(), &engine_checks(),
                           &engine_peer_checks()}) {
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

void record_failure(const char* file, int line, const std::string& what) {
  const std::lock_guard lock(mutex);
  const std::string text = std::string(file) + ":" + std::to_string(line) + ": " + what;
  if (failures++ == 0) first = text;
  constexpr int64_t kPrinted = 20;
  if (printing && failures <= kPrinted) std::fprintf(stderr, "FAILED %s\n", text.c_str());
}

int64_t failure_count() {
  const std::lock_guard lock(mutex);
  return failures;
}

std::string first_failure() {
  const std::lock_guard lock(mutex);
  return first;
}

void forget_failures() {
  const std::lock_guard lock(mutex);
  failures = 0;
  first.clear();
}

void print_failures(bool print) {
  const std::lock_guard lock(mutex);
  printing = print;
}
