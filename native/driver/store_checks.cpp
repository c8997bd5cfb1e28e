// SPDX-License-Identifier: Apache-2.0
// Handles, puts, gets, pins, eviction, census.
#include <cstring>
#include <set>

#include "check.h"
#include "fixture.h"

namespace {

void before_setup() {
  const mooncake_store_t store = mooncake_store_create();
  char page[8] = {};
  const char* keys[] = {"k"};
  void* buffers[] = {page};
  const size_t sizes[] = {8};
  int codes[] = {7};
  int64_t bytes[] = {7};
  EXPECT_EQ(-600, mooncake_store_put(store, "k", page, 8, nullptr));
  EXPECT_EQ(-600, mooncake_store_batch_put_from(store, keys, buffers, sizes, 1, nullptr, codes));
  EXPECT_EQ(-600, mooncake_store_batch_get_into(store, keys, buffers, sizes, 1, bytes));
  EXPECT_EQ(7, codes[0]);
  EXPECT_EQ(7, bytes[0]);
  EXPECT_EQ(-600, mooncake_store_is_exist(store, "k"));
  EXPECT_EQ(-600, mooncake_store_remove_all(store, 1));
  EXPECT_EQ(1, mooncake_store_health_check(store));
  char name[4] = "xy";
  EXPECT_EQ(0, mooncake_store_get_hostname(store, name, sizeof name));
  EXPECT_EQ(0, name[0]);
  mooncake_store_destroy(store);
}

void bad_handles() {
  char page[8] = {};
  const mooncake_store_t gone = mooncake_store_create();
  mooncake_store_destroy(gone);
  mooncake_store_destroy(gone);
  mooncake_store_destroy(nullptr);
  for (const mooncake_store_t store : {mooncake_store_t{nullptr}, gone, reinterpret_cast<mooncake_store_t>(0x1234)}) {
    EXPECT_EQ(-1, mooncake_store_put(store, "k", page, 8, nullptr));
    EXPECT_EQ(-1, mooncake_store_get_into(store, "k", page, 8));
    EXPECT_EQ(-1, mooncake_store_is_exist(store, "k"));
    EXPECT_EQ(-1, mooncake_store_remove_all(store, 1));
    EXPECT_EQ(-1, mooncake_store_health_check(store));
    EXPECT_EQ(-1, mooncake_store_setup(store, "h", "P2PHANDSHAKE", 0, 0, "tcp", "", "loopback:x"));
  }
}

void setup_refusals() {
  const mooncake_store_t store = mooncake_store_create();
  const auto setup = [&](const char* host, const char* metadata, uint64_t segment, uint64_t local, const char* protocol,
                         const char* master) {
    return mooncake_store_setup(store, host, metadata, segment, local, protocol, "", master);
  };
  EXPECT_EQ(-600, setup("", "P2PHANDSHAKE", 0, 0, "tcp", "loopback:x"));
  EXPECT_EQ(-600, setup(nullptr, "P2PHANDSHAKE", 0, 0, "tcp", "loopback:x"));
  EXPECT_EQ(-600, setup("h", "gopher://x", 0, 0, "tcp", "loopback:x"));
  EXPECT_EQ(-600, setup("h", nullptr, 0, 0, "tcp", "loopback:x"));
  EXPECT_EQ(-600, setup("h", "P2PHANDSHAKE", 16 * kMiB - 1, 0, "tcp", "loopback:x"));
  EXPECT_EQ(-600, setup("h", "P2PHANDSHAKE", 0, 0, "rdma", "loopback:x"));
  EXPECT_EQ(-600, setup("h", "P2PHANDSHAKE", 16 * kMiB, 0, "rpc_only", "loopback:x"));
  EXPECT_EQ(-600, setup("h", "P2PHANDSHAKE", 0, 0, "tcp", ""));
  EXPECT_EQ(-600, setup("h", "P2PHANDSHAKE", 0, 0, "tcp", "etcd://x"));
  EXPECT_EQ(-600, setup("h", "P2PHANDSHAKE", 1ULL << 62, 0, "tcp", "loopback:x"));
  EXPECT_EQ(0, setup("h", "P2PHANDSHAKE", 0, 0, nullptr, "loopback:x"));
  EXPECT_EQ(-600, setup("h", "P2PHANDSHAKE", 0, 0, "tcp", "loopback:x"));
  EXPECT_EQ(0, mooncake_store_health_check(store));
  mooncake_store_destroy(store);
}

void null_arguments() {
  const TestStore store;
  char page[8] = {};
  const char* keys[] = {"a", nullptr};
  const char* good[] = {"a", "b"};
  void* buffers[] = {page, nullptr};
  const size_t sizes[] = {8, 8};
  int codes[2];
  int64_t bytes[2];
  EXPECT_EQ(-1, mooncake_store_put(store, nullptr, page, 8, nullptr));
  EXPECT_EQ(-1, mooncake_store_put(store, "k", nullptr, 8, nullptr));
  EXPECT_EQ(-1, mooncake_store_batch_put_from(store, keys, buffers, sizes, 2, nullptr, codes));
  EXPECT_EQ(-1, mooncake_store_batch_put_from(store, good, buffers, sizes, 2, nullptr, codes));
  EXPECT_EQ(0, mooncake_store_is_exist(store, "a"));  // nothing of it was done
  EXPECT_EQ(-1, mooncake_store_batch_get_into(store, good, buffers, sizes, 2, bytes));
  EXPECT_EQ(-1, mooncake_store_batch_is_exist(store, keys, 2, codes));
  EXPECT_EQ(-1, mooncake_store_is_exist(store, nullptr));
  EXPECT_EQ(-1, mooncake_store_get_size(store, nullptr));
  EXPECT_EQ(-1, mooncake_store_remove(store, nullptr, 1));
  EXPECT_EQ(-1, mooncake_store_remove_by_regex(store, nullptr, 1));
  EXPECT_EQ(0, mooncake_store_batch_put_from(store, good, buffers, sizes, 0, nullptr, codes));
  EXPECT_EQ(0, mooncake_store_batch_get_into(store, good, buffers, sizes, 0, bytes));
  EXPECT_EQ(0, mooncake_store_batch_is_exist(store, good, 0, codes));
}

void put_and_get() {
  const TestStore store;
  for (const uint64_t bytes : {1ULL, 7ULL, 64ULL, 4095ULL, 4096ULL, 18432ULL, 1ULL << 20, 3ULL << 20}) {
    const std::string key = "size-" + std::to_string(bytes);
    EXPECT_EQ(0, store.put(key, bytes));
    EXPECT_EQ(bytes, mooncake_store_get_size(store, key.c_str()));
    EXPECT_EQ(bytes, store.get(key, bytes));
    EXPECT_EQ(bytes, store.get(key, bytes + 100));
    EXPECT_EQ(-600, store.get(key, bytes - 1));
    EXPECT_EQ(1, mooncake_store_is_exist(store, key.c_str()));
  }
  EXPECT_EQ(-704, store.get("missing"));
  EXPECT_EQ(-704, mooncake_store_get_size(store, "missing"));
  EXPECT_EQ(0, mooncake_store_is_exist(store, "missing"));
}

void existing_key_keeps_its_bytes() {
  const TestStore store;
  EXPECT_EQ(0, store.put("k", 100));
  char other[200];
  std::memset(other, 'o', sizeof other);
  EXPECT_EQ(0, mooncake_store_put(store, "k", other, sizeof other, nullptr));
  EXPECT_EQ(0, mooncake_store_put_from(store, "k", other, 50, nullptr));
  const char* keys[] = {"k"};
  void* buffers[] = {other};
  const size_t sizes[] = {100};
  int codes[] = {7};
  EXPECT_EQ(0, mooncake_store_batch_put_from(store, keys, buffers, sizes, 1, nullptr, codes));
  EXPECT_EQ(0, codes[0]);
  EXPECT_EQ(100, store.get("k"));
  EXPECT_EQ(1, store.census().key_count);
}

void empty_values_and_keys() {
  const TestStore store;
  char page[8] = {};
  EXPECT_EQ(-600, mooncake_store_put(store, "k", page, 0, nullptr));
  EXPECT_EQ(0, mooncake_store_put_from(store, "k", page, 0, nullptr));
  EXPECT_EQ(0, mooncake_store_is_exist(store, "k"));
  EXPECT_EQ(-600, mooncake_store_put(store, "", page, 8, nullptr));
  EXPECT_EQ(0, mooncake_store_is_exist(store, ""));
  const char* keys[] = {"a", "b"};
  void* buffers[] = {page, page};
  const size_t sizes[] = {0, 8};
  int codes[2];
  EXPECT_EQ(0, mooncake_store_batch_put_from(store, keys, buffers, sizes, 2, nullptr, codes));
  EXPECT_EQ(-600, codes[0]);
  EXPECT_EQ(0, codes[1]);
}

void long_keys_differ_at_their_end() {
  const TestStore store;
  for (const size_t length : {255UL, 256UL, 4096UL, 1UL << 20}) {
    const std::string a(length, 'k');
    std::string b = a;
    b.back() = 'l';
    EXPECT_EQ(0, store.put(a, 64));
    EXPECT_EQ(0, mooncake_store_is_exist(store, b.c_str()));
    EXPECT_EQ(0, store.put(b, 80));
    EXPECT_EQ(64, store.get(a));
    EXPECT_EQ(80, store.get(b));
  }
  const std::string bytes = "not-utf8-\xff\xfe";
  EXPECT_EQ(0, store.put(bytes, 64));
  EXPECT_EQ(64, store.get(bytes));
}

void batches_answer_by_place() {
  const TestStore store;
  EXPECT_EQ(0, store.put("b0", 64));
  EXPECT_EQ(0, store.put("b2", 96));
  std::vector<std::byte> page0(128);
  std::vector<std::byte> page1(128);
  std::vector<std::byte> page2(128);
  const char* keys[] = {"b0", "b1", "b2"};
  void* buffers[] = {page0.data(), page1.data(), page2.data()};
  const size_t sizes[] = {128, 128, 128};
  int64_t bytes[3] = {7, 7, 7};
  int codes[3] = {7, 7, 7};
  EXPECT_EQ(0, mooncake_store_batch_get_into(store, keys, buffers, sizes, 3, bytes));
  EXPECT_EQ(64, bytes[0]);
  EXPECT_EQ(-704, bytes[1]);
  EXPECT_EQ(96, bytes[2]);
  EXPECT(page_is_whole(page0.data(), "b0", 64));
  EXPECT(page_is_whole(page2.data(), "b2", 96));
  EXPECT_EQ(0, mooncake_store_batch_is_exist(store, keys, 3, codes));
  EXPECT_EQ(1, codes[0]);
  EXPECT_EQ(0, codes[1]);
  EXPECT_EQ(1, codes[2]);
}

// Large enough for the copy crew and for streamed stores, from and to odd addresses, by more callers than one.
void large_batches() {
  const TestStore store(fresh_pool(), 128 * kMiB);
  const auto put_and_get = [&](int caller) {
    const std::string name = "large-" + std::to_string(caller) + "-";
    const std::vector<size_t> sizes = {8 * kMiB + 1, 100, 9 * kMiB - 3, 4096, 9 * kMiB + 65};
    std::vector<std::byte> memory(28 * kMiB);
    std::vector<std::string> names;
    std::vector<const char*> keys;
    std::vector<void*> buffers;
    size_t at = static_cast<size_t>(caller) + 1;
    for (size_t i = 0; i < sizes.size(); i++) {
      names.push_back(name + std::to_string(i));
      fill_page(memory.data() + at, names[i], sizes[i], i);
      buffers.push_back(memory.data() + at);
      at += sizes[i];
    }
    for (const std::string& key : names) keys.push_back(key.c_str());
    int codes[5];
    EXPECT_EQ(0, mooncake_store_batch_put_from(store, keys.data(), buffers.data(), sizes.data(), 5, nullptr, codes));
    for (const int code : codes) EXPECT_EQ(0, code);
    std::memset(memory.data(), 0xee, memory.size());
    int64_t bytes[5];
    EXPECT_EQ(0, mooncake_store_batch_get_into(store, keys.data(), buffers.data(), sizes.data(), 5, bytes));
    for (size_t i = 0; i < sizes.size(); i++) {
      EXPECT_EQ(sizes[i], bytes[i]);
      EXPECT(page_is_whole(static_cast<std::byte*>(buffers[i]), names[i], sizes[i]));
    }
    EXPECT(memory[static_cast<size_t>(caller)] == std::byte{0xee} && memory[at] == std::byte{0xee});
  };
  Aside first([&] { put_and_get(0); });
  Aside second([&] { put_and_get(1); });
  Aside third([&] { put_and_get(2); });
}

void replicas() {
  const std::string pool = fresh_pool();
  const TestStore a(pool, 16 * kMiB, "host-a:1");
  mooncake_replicate_config_t config{0, 0, 0, nullptr, 0};
  EXPECT_EQ(-600, a.put("none", 64, &config));
  config.replica_num = 3;
  EXPECT_EQ(0, a.put("one", 64, &config));
  EXPECT_EQ(64, a.census().allocated_bytes);  // at most one a segment
  {
    const TestStore b(pool, 16 * kMiB, "host-b:1");
    EXPECT_EQ(0, a.put("both", 64, &config));
    EXPECT_EQ(192, a.census().allocated_bytes);
    const char* preferred[] = {nullptr, "nowhere", "host-b:1"};
    const mooncake_replicate_config_t there{1, 0, 0, preferred, 3};
    EXPECT_EQ(0, a.put("there", 64, &there));
  }
  // Its segment went with its store; what has another replica stays.
  EXPECT_EQ(64, a.get("both"));
  EXPECT_EQ(64, a.get("one"));
  EXPECT_EQ(-704, a.get("there"));
  EXPECT_EQ(1, a.census().segment_count);
}

void local_buffer_and_space() {
  const TestStore store;  // local buffer 8 MiB, segment 16 MiB
  std::vector<std::byte> page(17 * kMiB);
  EXPECT_EQ(-600, mooncake_store_put(store, "k", page.data(), 8 * kMiB + 1, nullptr));
  EXPECT_EQ(-200, mooncake_store_put_from(store, "k", page.data(), 17 * kMiB, nullptr));
  EXPECT_EQ(0, mooncake_store_put_from(store, "k", page.data(), 9 * kMiB, nullptr));
  const TestStore pure(fresh_pool(), 0);
  EXPECT_EQ(-200, pure.put("k"));
}

void eviction_takes_the_oldest() {
  const TestStore store;
  const auto fill = [&](int from, int to) {
    for (int i = from; i < to; i++) EXPECT_EQ(0, store.put("e" + std::to_string(i), kMiB));
  };
  fill(0, 14);
  EXPECT_EQ(0, store.census().evicted_keys);
  EXPECT_EQ(1, mooncake_store_is_exist(store, "e0"));  // leased: the next is older now
  fill(14, 15);                                        // 15 of 16 MiB: above 90 %
  EXPECT_EQ(1, store.census().evicted_keys);
  EXPECT_EQ(-704, gatun_loopback_query_key(store.pool(), "e1"));
  EXPECT_EQ(kMiB, gatun_loopback_query_key(store.pool(), "e0"));
  fill(15, 60);
  EXPECT_EQ(kMiB, gatun_loopback_query_key(store.pool(), "e0"));
  gatun_loopback_clock_advance(10'001);
  fill(60, 90);
  EXPECT_EQ(-704, gatun_loopback_query_key(store.pool(), "e0"));
}

void leases_fill_the_pool() {
  const TestStore store;
  for (int i = 0; i < 14; i++) EXPECT_EQ(0, store.put("l" + std::to_string(i), kMiB));
  for (int i = 0; i < 14; i++) EXPECT_EQ(1, mooncake_store_is_exist(store, ("l" + std::to_string(i)).c_str()));
  EXPECT_EQ(-200, store.put("more", 3 * kMiB));
  for (int i = 0; i < 14; i++)
    EXPECT_EQ(kMiB, gatun_loopback_query_key(store.pool(), ("l" + std::to_string(i)).c_str()));
  gatun_loopback_clock_advance(10'001);
  EXPECT_EQ(0, store.put("more", 3 * kMiB));
}

void pins() {
  const TestStore store;
  const mooncake_replicate_config_t hard{1, 0, 1, nullptr, 0};
  const mooncake_replicate_config_t soft{1, 1, 0, nullptr, 0};
  EXPECT_EQ(0, store.put("hard", kMiB, &hard));
  EXPECT_EQ(0, store.put("soft", kMiB, &soft));
  for (int i = 0; i < 40; i++) EXPECT_EQ(0, store.put("p" + std::to_string(i), kMiB));
  EXPECT_EQ(kMiB, gatun_loopback_query_key(store.pool(), "hard"));
  EXPECT_EQ(kMiB, gatun_loopback_query_key(store.pool(), "soft"));
  gatun_loopback_clock_advance(1'800'001);  // the soft pin ends, the hard one never does
  for (int i = 40; i < 80; i++) EXPECT_EQ(0, store.put("p" + std::to_string(i), kMiB));
  EXPECT_EQ(kMiB, gatun_loopback_query_key(store.pool(), "hard"));
  EXPECT_EQ(-704, gatun_loopback_query_key(store.pool(), "soft"));
  EXPECT_EQ(0, mooncake_store_remove(store, "hard", 0));  // a pin does not stop a removal
}

void census_counts() {
  const TestStore store;
  const auto before = store.census();
  EXPECT(before.start_id != 0);
  EXPECT_EQ(0, before.key_count);
  EXPECT_EQ(16 * kMiB, before.capacity_bytes);
  EXPECT_EQ(0, store.put("a", 100));
  EXPECT_EQ(0, store.put("a", 100));
  EXPECT_EQ(0, store.put("b", 100));
  const auto after = store.census();
  EXPECT_EQ(2, after.key_count);
  EXPECT_EQ(2, after.complete_count);
  EXPECT_EQ(3, after.put_starts);
  EXPECT_EQ(2, after.put_ends);
  EXPECT_EQ(256, after.allocated_bytes);
  EXPECT_EQ(1, after.store_count);
  EXPECT_EQ(-101, gatun_loopback_query_key("loopback:nowhere", "a"));
  EXPECT_EQ(0, gatun_loopback_master_restart(store.pool()));
  const auto restarted = store.census();
  EXPECT(restarted.start_id != before.start_id);
  EXPECT_EQ(0, restarted.key_count);
  EXPECT_EQ(0, restarted.put_starts);
  EXPECT_EQ(0, restarted.allocated_bytes);
}

void keys_are_listed_once() {
  const TestStore store;
  constexpr int kKeys = 500;
  for (int i = 0; i < kKeys; i++) EXPECT_EQ(0, store.put("list-" + std::to_string(i)));
  std::set<std::string> listed;
  uint64_t cursor = 0;
  char buffer[100];
  while (cursor != UINT64_MAX) {
    const int64_t count = gatun_loopback_list_keys(store.pool(), &cursor, buffer, sizeof buffer);
    EXPECT(count >= 0);
    if (count < 0) break;
    const char* at = buffer;
    for (int64_t i = 0; i < count; i++, at += std::strlen(at) + 1) EXPECT(listed.insert(at).second);
  }
  EXPECT_EQ(kKeys, listed.size());
  cursor = 0;
  EXPECT_EQ(-10, gatun_loopback_list_keys(store.pool(), &cursor, buffer, 3));
}

void hostnames() {
  const TestStore with_port(fresh_pool(), 0, "10.0.0.1:4321");
  EXPECT(with_port.hostname() == "10.0.0.1:4321");
  const TestStore without(fresh_pool(), 0, "10.0.0.1");
  EXPECT(without.hostname().starts_with("10.0.0.1:1"));
  const TestStore v6(fresh_pool(), 0, "::1");
  EXPECT(v6.hostname().starts_with("[::1]:1"));
  char small[13];
  EXPECT_EQ(-1, mooncake_store_get_hostname(with_port, small, 13));
  EXPECT_EQ(-1, mooncake_store_get_hostname(with_port, nullptr, 13));
  char fits[14];
  EXPECT_EQ(0, mooncake_store_get_hostname(with_port, fits, 14));
}

void registered_buffers() {
  const TestStore store;
  std::vector<std::byte> memory(4096);
  EXPECT_EQ(-1, mooncake_store_register_buffer(store, nullptr, 8));
  EXPECT_EQ(-1, mooncake_store_register_buffer(store, memory.data(), 0));
  EXPECT_EQ(0, mooncake_store_register_buffer(store, memory.data(), 4096));
  EXPECT_EQ(-600, mooncake_store_register_buffer(store, memory.data(), 4096));
  EXPECT_EQ(-600, mooncake_store_register_buffer(store, memory.data() + 4095, 1));
  EXPECT_EQ(-600, mooncake_store_unregister_buffer(store, memory.data() + 1));
  EXPECT_EQ(-600, mooncake_store_unregister_buffer(store, nullptr));
  EXPECT_EQ(0, mooncake_store_unregister_buffer(store, memory.data()));
  EXPECT_EQ(-600, mooncake_store_unregister_buffer(store, memory.data()));
  EXPECT_EQ(0, mooncake_store_register_buffer(store, memory.data(), 4096));
}

}  // namespace

const std::vector<Check>& store_checks() {
  static const std::vector<Check> checks = {
      {"before setup every call is refused", before_setup},
      {"NULL, destroyed and foreign handles are refused", bad_handles},
      {"setup refuses what it cannot serve", setup_refusals},
      {"NULL arguments are refused", null_arguments},
      {"bytes got are bytes put", put_and_get},
      {"an existing key keeps its bytes", existing_key_keeps_its_bytes},
      {"empty values and keys", empty_values_and_keys},
      {"long keys differ at their end", long_keys_differ_at_their_end},
      {"batches answer by place", batches_answer_by_place},
      {"large batches from several callers", large_batches},
      {"replicas", replicas},
      {"local buffer and space", local_buffer_and_space},
      {"eviction takes the oldest, not the leased", eviction_takes_the_oldest},
      {"a pool full of leases refuses", leases_fill_the_pool},
      {"soft and hard pins", pins},
      {"census counts", census_counts},
      {"keys are listed once", keys_are_listed_once},
      {"host names", hostnames},
      {"registered buffers", registered_buffers},
  };
  return checks;
}
