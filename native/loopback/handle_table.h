// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace gatun::loopback {

// Turns handles that came from a caller back into objects, so that NULL, stale and foreign handles are refused
// instead of dereferenced. A handle is a number: kind, generation, slot. It is never a pointer.
//
// One word a slot holds generation, a closed bit and the calls running on it. pin() is one atomic add; close() lets
// exactly one caller win, waits for the running calls, then hands the object out for destruction.
template <typename T, uint8_t kKind>
class HandleTable {
 public:
  class Pin {
   public:
    Pin() = default;
    Pin(HandleTable* table, std::atomic<uint64_t>* word, T* object) : table_(table), word_(word), object_(object) {}
    Pin(Pin&& other) noexcept : table_(other.table_), word_(other.word_), object_(other.object_) {
      other.word_ = nullptr;
      other.object_ = nullptr;
    }
    Pin& operator=(Pin&&) = delete;
    ~Pin() {
      if (word_ != nullptr) unpin(*word_);
    }
    explicit operator bool() const { return object_ != nullptr; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }

   private:
    HandleTable* table_ = nullptr;
    std::atomic<uint64_t>* word_ = nullptr;
    T* object_ = nullptr;
  };

  // 0 when every slot is taken.
  uint64_t open(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    uint32_t index;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      if (used_ == kChunkCount * kChunkSize) return 0;
      index = used_;
      if (index % kChunkSize == 0) chunks_[index / kChunkSize].store(new Chunk, std::memory_order_release);
      used_++;
      free_.reserve(used_);  // so that close() cannot fail
    }
    Slot& slot = *find(index);
    slot.object.store(object.release(), std::memory_order_release);
    // The slot was closed; its generation was raised when it was freed.
    const uint64_t word = slot.word.fetch_and(~kClosed, std::memory_order_acq_rel) & ~kClosed;
    live_++;
    return (uint64_t{kKind} << 56) | ((word >> 32) << 24) | (index + 1);
  }

  Pin pin(uint64_t handle) {
    Slot* const slot = locate(handle);
    if (slot == nullptr) return {};
    const uint64_t word = slot->word.fetch_add(1, std::memory_order_acq_rel);
    if (!matches(word, handle)) {
      unpin(slot->word);
      return {};
    }
    return Pin(this, &slot->word, slot->object.load(std::memory_order_acquire));
  }

  // Null when the handle is not live, or another thread closes it. Waits for running calls.
  std::unique_ptr<T> close(uint64_t handle) {
    Slot* const slot = locate(handle);
    if (slot == nullptr) return nullptr;
    uint64_t word = slot->word.load(std::memory_order_acquire);
    do {
      if (!matches(word, handle)) return nullptr;
    } while (!slot->word.compare_exchange_weak(word, word | kClosed, std::memory_order_acq_rel));
    word |= kClosed;
    while ((word & kUsers) != 0) {
      slot->word.wait(word, std::memory_order_acquire);
      word = slot->word.load(std::memory_order_acquire);
    }
    std::unique_ptr<T> object(slot->object.exchange(nullptr, std::memory_order_acq_rel));
    const std::lock_guard lock(mutex_);
    slot->word.fetch_add(kGeneration, std::memory_order_acq_rel);  // may wrap: 32 bits, then old handles match again
    free_.push_back(static_cast<uint32_t>((handle & kIndexMask) - 1));
    live_--;
    return object;
  }

  int64_t live() {
    const std::lock_guard lock(mutex_);
    return live_;
  }

 private:
  static constexpr uint64_t kUsers = 0x7fff'ffffULL;
  static constexpr uint64_t kClosed = 0x8000'0000ULL;
  static constexpr uint64_t kGeneration = 1ULL << 32;
  static constexpr uint64_t kIndexMask = 0xff'ffffULL;
  static constexpr uint32_t kChunkSize = 1024;
  static constexpr uint32_t kChunkCount = 4096;

  struct alignas(64) Slot {
    std::atomic<uint64_t> word{kClosed};
    std::atomic<T*> object{nullptr};
  };
  using Chunk = std::array<Slot, kChunkSize>;

  static bool matches(uint64_t word, uint64_t handle) {
    return (word & kClosed) == 0 && ((word >> 32) & 0xffff'ffffULL) == ((handle >> 24) & 0xffff'ffffULL);
  }

  static void unpin(std::atomic<uint64_t>& word) {
    const uint64_t before = word.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & kClosed) != 0 && (before & kUsers) == 1) word.notify_all();
  }

  Slot* find(uint32_t index) const {
    if (index >= kChunkCount * kChunkSize) return nullptr;
    Chunk* const chunk = chunks_[index / kChunkSize].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[index % kChunkSize];
  }

  Slot* locate(uint64_t handle) const {
    if ((handle >> 56) != kKind || (handle & kIndexMask) == 0) return nullptr;
    return find(static_cast<uint32_t>(handle & kIndexMask) - 1);
  }

  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint32_t used_ = 0;
  int64_t live_ = 0;
  std::array<std::atomic<Chunk*>, kChunkCount> chunks_{};
};

}  // namespace gatun::loopback
