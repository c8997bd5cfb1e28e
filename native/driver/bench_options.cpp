// SPDX-License-Identifier: Apache-2.0
#include "bench_options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr const char* kUsage =
    "gatun_c_bench: batch put, get and exists of a store library, beside memcpy, as JSON.\n"
    "  --library PATH           default libgatun_loopback.so beside the program\n"
    "  --preload PATH           opened first with global symbols; may be repeated\n"
    "  --hostname H --metadata M --protocol P --device D --master A\n"
    "  --segment BYTES          memory contributed; 0: none, the pool lives elsewhere\n"
    "  --local-buffer BYTES\n"
    "  --pages A,B,...          page sizes in bytes\n"
    "  --batches A,B,...        pages a batch\n"
    "  --max-batch BYTES        larger cells are left out and listed as such\n"
    "  --cell-millis N          time for each cell and operation, half of it to warm up\n"
    "  --min-iterations N       measured iterations of a cell, however long they take\n"
    "  --no-exists              leave the existence queries out\n"
    "  --no-memcpy              leave the comparison with memcpy out\n"
    "  --clear-all              one remove_all between puts instead of a removal a key\n";

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n%s", message.c_str(), kUsage);
  std::exit(2);
}

uint64_t number(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] == '-' || *end != '\0') fail(flag + " takes a whole number: " + text);
  return value;
}

std::vector<uint64_t> numbers(const std::string& flag, const std::string& text) {
  std::vector<uint64_t> values;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    values.push_back(number(flag, text.substr(at, comma - at)));
    if (values.back() == 0) fail(flag + " takes positive numbers: " + text);
    at = comma + 1;
  }
  return values;
}

}  // namespace

BenchOptions BenchOptions::parse(int argc, char** argv) {
  BenchOptions options;
  for (int i = 1; i < argc; i++) {
    const std::string flag = argv[i];
    if (flag == "--help") {
      std::printf("%s", kUsage);
      std::exit(0);
    }
    if (flag == "--clear-all") {
      options.clear_all = true;
      continue;
    }
    if (flag == "--no-exists") {
      options.exists = false;
      continue;
    }
    if (flag == "--no-memcpy") {
      options.memcpy = false;
      continue;
    }
    if (i + 1 >= argc) fail("no value for " + flag);
    const std::string value = argv[++i];
    if (flag == "--library") {
      options.library = value;
    } else if (flag == "--preload") {
      options.preload.push_back(value);
    } else if (flag == "--hostname") {
      options.hostname = value;
    } else if (flag == "--metadata") {
      options.metadata = value;
    } else if (flag == "--protocol") {
      options.protocol = value;
    } else if (flag == "--device") {
      options.device = value;
    } else if (flag == "--master") {
      options.master = value;
    } else if (flag == "--segment") {
      options.segment_bytes = number(flag, value);
      options.contributes_segment = options.segment_bytes > 0;
    } else if (flag == "--local-buffer") {
      options.local_buffer_bytes = number(flag, value);
    } else if (flag == "--pages") {
      options.page_bytes = numbers(flag, value);
    } else if (flag == "--batches") {
      options.batch_pages = numbers(flag, value);
    } else if (flag == "--max-batch") {
      options.max_batch_bytes = number(flag, value);
    } else if (flag == "--cell-millis") {
      options.cell_millis = number(flag, value);
    } else if (flag == "--min-iterations") {
      options.min_iterations = std::max<uint64_t>(number(flag, value), 1);
    } else {
      fail("unknown flag " + flag);
    }
  }
  if (options.contributes_segment && options.segment_bytes == 0) {
    options.segment_bytes = std::max<uint64_t>(3 * options.largest_batch_bytes(), 1ULL << 30);
  }
  return options;
}

uint64_t BenchOptions::largest_batch_bytes() const {
  uint64_t largest = 0;
  for (const uint64_t page : page_bytes) {
    for (const uint64_t pages : batch_pages) {
      if (page <= max_batch_bytes / pages) largest = std::max(largest, page * pages);
    }
  }
  return largest;
}
