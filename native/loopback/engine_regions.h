// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

namespace gatun::loopback {

// The memory that an engine has registered: who may be written to, and for how long. Thread-safe.
class RegionTable {
 public:
  // While it lives, its region cannot be unregistered: the memory stays valid for one copy.
  class Use {
   public:
    Use() = default;
    Use(RegionTable* table, uintptr_t base, uint64_t usable) : table_(table), base_(base), usable_bytes_(usable) {}
    Use(Use&& other) noexcept : table_(other.table_), base_(other.base_), usable_bytes_(other.usable_bytes_) {
      other.table_ = nullptr;
    }
    Use& operator=(Use&&) = delete;
    ~Use();
    explicit operator bool() const { return table_ != nullptr; }
    uint64_t usable_bytes() const { return usable_bytes_; }

   private:
    RegionTable* table_ = nullptr;
    uintptr_t base_ = 0;
    uint64_t usable_bytes_ = 0;
  };

  // 0, -1 (empty, NULL or wrapping range), -7 (overlap).
  int add(uintptr_t base, uint64_t bytes);
  // 0, -3, -4. Waits for copies that touch the region, a while; then it stays.
  int remove(uintptr_t base);
  // Holds the region that contains the whole range; empty when none does.
  Use use(uint64_t address, uint64_t bytes);
  // Refuses everything from now on, and waits for the copies that run.
  void close();

 private:
  struct Region {
    uint64_t bytes;
    int64_t users = 0;
    bool leaving = false;
  };

  bool overlaps(uintptr_t base, uint64_t bytes) const;
  void finish(uintptr_t base);

  std::mutex mutex_;
  std::condition_variable unused_;
  std::map<uintptr_t, Region> regions_;
  bool closed_ = false;
};

}  // namespace gatun::loopback
