// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Checks of the contract. A failed expectation is recorded, not fatal: under a mutant a check is meant to fail.
struct Check {
  const char* name;
  void (*run)();
};

const std::vector<Check>& store_checks();
const std::vector<Check>& removal_checks();
const std::vector<Check>& fault_checks();
const std::vector<Check>& engine_checks();
const std::vector<Check>& engine_peer_checks();
const std::vector<Check>& verbs_checks();
std::vector<Check> all_checks();

// Thread-safe.
void record_failure(const char* file, int line, const std::string& what);
int64_t failure_count();
std::string first_failure();
void forget_failures();
// Whether failures are printed as they come.
void print_failures(bool print);

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) record_failure(__FILE__, __LINE__, "not: " #condition); \
  } while (0)

// Prints both sides.
#define EXPECT_EQ(expected, actual)                                                                              \
  do {                                                                                                           \
    const auto expected_value = static_cast<int64_t>(expected);                                                  \
    const auto actual_value = static_cast<int64_t>(actual);                                                      \
    if (expected_value != actual_value) {                                                                        \
      record_failure(__FILE__, __LINE__,                                                                         \
                     #actual " is " + std::to_string(actual_value) + ", not " + std::to_string(expected_value)); \
    }                                                                                                            \
  } while (0)
