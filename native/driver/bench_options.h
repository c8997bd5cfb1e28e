// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct BenchOptions {
  std::string library = "libgatun_loopback.so";
  std::vector<std::string> preload;  // opened first, with their symbols global
  std::string hostname = "127.0.0.1";
  std::string metadata = "P2PHANDSHAKE";
  std::string protocol = "tcp";
  std::string device;
  std::string master = "loopback:bench";
  uint64_t segment_bytes = 0;  // 0: three times the largest batch, at least 1 GiB
  bool contributes_segment = true;
  uint64_t local_buffer_bytes = 64ULL << 20;
  std::vector<uint64_t> page_bytes = {4096, 65536, 262144, 1048576, 16777216};
  std::vector<uint64_t> batch_pages = {1, 16, 128};
  uint64_t max_batch_bytes = 512ULL << 20;
  uint64_t cell_millis = 300;
  uint64_t min_iterations = 5;
  bool exists = true;
  bool memcpy = true;
  bool clear_all = false;

  // Prints what is wrong and exits with 2.
  static BenchOptions parse(int argc, char** argv);
  uint64_t largest_batch_bytes() const;
};
