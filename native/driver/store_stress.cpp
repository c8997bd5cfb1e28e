// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>

#include "check.h"
#include "fixture.h"
#include "stress.h"

namespace {

constexpr int kThreads = 4;
constexpr uint64_t kKeys = 600;
constexpr uint64_t kBatch = 16;

std::string key_name(uint64_t key) {
  return "stress-" + std::to_string(key % 7) + "-" + std::to_string(key);
}

// A key always has the same size, so that a get can be judged; together they are more than the pool holds. A few are
// large enough for the copy crew.
uint64_t key_bytes(uint64_t key) {
  if (key % 50 == 0) return 3 * kMiB / 2 + key;
  constexpr uint64_t kSizes[] = {1, 100, 4096, 18432, 65536, 300'000};
  return kSizes[key % 6] + key % 3;
}

class StoreUser {
 public:
  StoreUser(const TestStore& store, uint64_t seed) : store_(store), random_(seed), page_(3 * kMiB) {}

  void step() {
    const uint64_t key = random_.below(kKeys);
    const uint64_t dice = random_.below(1000);
    if (dice < 350) {
      put(key);
    } else if (dice < 700) {
      get(key);
    } else if (dice < 780) {
      put_batch(key);
    } else if (dice < 860) {
      get_batch(key);
    } else if (dice < 940) {
      look(key);
    } else {
      remove(key, dice);
    }
  }

 private:
  void put(uint64_t key) {
    const std::string name = key_name(key);
    fill_page(page_.data(), name, key_bytes(key), random_.below(1'000'000));
    const mooncake_replicate_config_t two{2, key % 5 == 0, 0, nullptr, 0};
    judge_put(
        mooncake_store_put_from(store_, name.c_str(), page_.data(), key_bytes(key), key % 3 == 0 ? &two : nullptr));
  }

  void get(uint64_t key) {
    const std::string name = key_name(key);
    const uint64_t spare = random_.below(2);
    judge_get(key, page_.data(), mooncake_store_get_into(store_, name.c_str(), page_.data(), key_bytes(key) + spare));
  }

  // The first of a batch is random, the rest follow it, so that batches of several threads overlap.
  void batch_of(uint64_t first) {
    names_.clear();
    keys_.clear();
    buffers_.clear();
    sizes_.clear();
    for (uint64_t i = 0; i < kBatch; i++) names_.push_back(key_name((first + i) % kKeys));
    uint64_t at = 0;
    for (uint64_t i = 0; i < kBatch; i++) {
      const uint64_t bytes = key_bytes((first + i) % kKeys);
      keys_.push_back(names_[i].c_str());
      sizes_.push_back(bytes);
      at += bytes;
    }
    if (batch_pages_.size() < at) batch_pages_.resize(at);
    at = 0;
    for (const size_t size : sizes_) {
      buffers_.push_back(batch_pages_.data() + at);
      at += size;
    }
  }

  void put_batch(uint64_t first) {
    batch_of(first);
    for (uint64_t i = 0; i < kBatch; i++) {
      fill_page(static_cast<std::byte*>(buffers_[i]), names_[i], sizes_[i], random_.below(1'000'000));
    }
    int codes[kBatch];
    EXPECT_EQ(
        0, mooncake_store_batch_put_from(store_, keys_.data(), buffers_.data(), sizes_.data(), kBatch, nullptr, codes));
    for (const int code : codes) judge_put(code);
  }

  void get_batch(uint64_t first) {
    batch_of(first);
    int64_t bytes[kBatch];
    EXPECT_EQ(0, mooncake_store_batch_get_into(store_, keys_.data(), buffers_.data(), sizes_.data(), kBatch, bytes));
    for (uint64_t i = 0; i < kBatch; i++) {
      judge_get((first + i) % kKeys, static_cast<std::byte*>(buffers_[i]), bytes[i]);
    }
  }

  void look(uint64_t key) {
    const std::string name = key_name(key);
    const int exists = mooncake_store_is_exist(store_, name.c_str());
    EXPECT(exists == 0 || exists == 1);
    const int64_t bytes = mooncake_store_get_size(store_, name.c_str());
    EXPECT(bytes == static_cast<int64_t>(key_bytes(key)) || bytes == -704 || bytes == -703);
  }

  void remove(uint64_t key, uint64_t dice) {
    if (dice < 990) {
      const int code = mooncake_store_remove(store_, key_name(key).c_str(), dice % 2 == 0);
      EXPECT(code == 0 || code == -704 || code == -703 || code == -706);
    } else if (dice < 996) {
      EXPECT(mooncake_store_remove_all(store_, dice % 2 == 0) >= 0);
    } else {
      EXPECT(mooncake_store_remove_by_regex(store_, ("^stress-" + std::to_string(key % 7)).c_str(), 1) >= 0);
    }
  }

  // -200: full of leases. The others: the segment went away with its store meanwhile, and somebody else may have put
  // the key since.
  static void judge_put(int code) { EXPECT(code == 0 || code == -200 || code == -704 || code == -601 || code == -700); }

  void judge_get(uint64_t key, const std::byte* page, int64_t bytes) {
    if (bytes < 0) {
      EXPECT(bytes == -704 || bytes == -703);
      return;
    }
    EXPECT_EQ(key_bytes(key), bytes);
    EXPECT(page_is_whole(page, key_name(key), key_bytes(key)));
  }

  const TestStore& store_;
  Random random_;
  std::vector<std::byte> page_;
  std::vector<std::byte> batch_pages_;
  std::vector<std::string> names_;
  std::vector<const char*> keys_;
  std::vector<void*> buffers_;
  std::vector<size_t> sizes_;
};

}  // namespace

uint64_t stress_store(uint64_t seed, Deadline deadline) {
  const std::string pool = fresh_pool();
  const TestStore first(pool, 24 * kMiB, "host-1:1");
  const TestStore second(pool, 16 * kMiB, "host-2:1");
  std::atomic<uint64_t> operations{0};
  {
    std::vector<std::unique_ptr<Aside>> users;
    for (int i = 0; i < kThreads; i++) {
      users.push_back(std::make_unique<Aside>([&, i] {
        StoreUser user(i % 2 == 0 ? first : second, seed + static_cast<uint64_t>(i));
        uint64_t steps = 0;
        while (std::chrono::steady_clock::now() < deadline) {
          user.step();
          steps++;
        }
        operations += steps;
      }));
    }
    // A store that comes and goes, and takes its segment along.
    users.push_back(std::make_unique<Aside>([&] {
      Random random(seed + 99);
      while (std::chrono::steady_clock::now() < deadline) {
        const TestStore guest(pool, 16 * kMiB, "host-3:1");
        StoreUser user(guest, random.below(1'000'000));
        for (int i = 0; i < 50; i++) user.step();
      }
    }));
  }
  EXPECT(mooncake_store_remove_all(first, 1) >= 0);
  const auto census = first.census();
  EXPECT_EQ(0, census.key_count);
  EXPECT_EQ(0, census.complete_count);
  EXPECT_EQ(0, census.allocated_bytes);
  EXPECT_EQ(40 * kMiB, census.capacity_bytes);
  EXPECT_EQ(24 * kMiB, census.largest_free_bytes);
  EXPECT_EQ(2, census.store_count);
  return operations;
}
