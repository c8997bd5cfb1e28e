// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <atomic>
#include <cstring>

#include "check.h"

namespace {

uint64_t seed_of(const std::string& key, uint64_t bytes, uint64_t nonce) {
  uint64_t hash = 1469598103934665603ULL ^ nonce;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return (hash ^ bytes) | 1;
}

uint64_t next(uint64_t state) {
  return state * 6364136223846793005ULL + 1442695040888963407ULL;
}

}  // namespace

std::string fresh_pool() {
  static std::atomic<int> next_pool{0};
  return "loopback:driver-" + std::to_string(next_pool.fetch_add(1));
}

TestStore::TestStore(std::string pool, uint64_t segment_bytes, const char* hostname)
    : pool_(std::move(pool)), handle_(mooncake_store_create()) {
  EXPECT_EQ(0,
            mooncake_store_setup(handle_, hostname, "P2PHANDSHAKE", segment_bytes, 8 * kMiB, "tcp", "", pool_.c_str()));
}

std::string TestStore::hostname() const {
  char name[256] = "";
  EXPECT_EQ(0, mooncake_store_get_hostname(handle_, name, sizeof name));
  return name;
}

gatun_loopback_census_t TestStore::census() const {
  gatun_loopback_census_t census{};
  EXPECT_EQ(0, gatun_loopback_census(pool(), &census));
  return census;
}

int TestStore::put(const std::string& key, uint64_t bytes, const mooncake_replicate_config_t* config) const {
  auto page = make_page(key, bytes);
  return mooncake_store_put_from(handle_, key.c_str(), page.data(), bytes, config);
}

int64_t TestStore::get(const std::string& key, uint64_t capacity) const {
  std::vector<std::byte> page(capacity + 1, std::byte{0xee});
  const int64_t got = mooncake_store_get_into(handle_, key.c_str(), page.data(), capacity);
  const uint64_t written = got < 0 ? 0 : static_cast<uint64_t>(got);
  EXPECT(written <= capacity);
  if (written <= capacity) {
    EXPECT(written == 0 || page_is_whole(page.data(), key, written));
    // Beyond the object nothing is written.
    for (uint64_t i = written; i < page.size(); i++) {
      if (page[i] != std::byte{0xee}) {
        EXPECT(page[i] == std::byte{0xee});
        break;
      }
    }
  }
  return got;
}

std::string TestEngine::name() const {
  char name[256] = "";
  EXPECT_EQ(0, getLocalIpAndPort(handle_, name, sizeof name));
  return name;
}

void fill_page(std::byte* page, const std::string& key, uint64_t bytes, uint64_t nonce) {
  uint64_t state = seed_of(key, bytes, nonce);
  for (uint64_t at = 0; at < bytes; at += 8) {
    const uint64_t word = at == 0 ? nonce : state;
    std::memcpy(page + at, &word, std::min<uint64_t>(8, bytes - at));
    state = next(state);
  }
}

std::vector<std::byte> make_page(const std::string& key, uint64_t bytes, uint64_t nonce) {
  std::vector<std::byte> page(bytes);
  fill_page(page.data(), key, bytes, nonce);
  return page;
}

bool page_is_whole(const std::byte* page, const std::string& key, uint64_t bytes) {
  uint64_t nonce = 0;
  std::memcpy(&nonce, page, std::min<uint64_t>(8, bytes));
  const auto expected = make_page(key, bytes, nonce);
  return std::memcmp(page, expected.data(), bytes) == 0;
}

void eventually(const char* what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      record_failure(__FILE__, __LINE__, std::string("never: ") + what);
      return;
    }
    std::this_thread::yield();
  }
}
