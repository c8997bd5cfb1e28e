// SPDX-License-Identifier: Apache-2.0
// Leases and the removal table.
#include <pthread.h>

#include "check.h"
#include "fixture.h"

namespace {

void put_grants_no_lease() {
  const TestStore store;
  EXPECT_EQ(0, store.put("k"));
  EXPECT_EQ(0, mooncake_store_remove(store, "k", 0));
  EXPECT_EQ(-704, mooncake_store_remove(store, "k", 0));
  EXPECT_EQ(-704, mooncake_store_remove(store, "k", 1));
  EXPECT_EQ(0, mooncake_store_is_exist(store, "k"));
  EXPECT_EQ(0, store.census().allocated_bytes);
  EXPECT_EQ(0, store.put("k", 80));
  EXPECT_EQ(80, store.get("k"));
}

void reads_grant_leases() {
  const TestStore store;
  const std::vector<std::function<void(const char*)>> reads = {
      [&](const char* key) { EXPECT_EQ(64, store.get(key)); },
      [&](const char* key) { EXPECT_EQ(64, mooncake_store_get_size(store, key)); },
      [&](const char* key) { EXPECT_EQ(1, mooncake_store_is_exist(store, key)); },
      [&](const char* key) {
        int code = 0;
        EXPECT_EQ(0, mooncake_store_batch_is_exist(store, &key, 1, &code));
        EXPECT_EQ(1, code);
      },
  };
  for (size_t i = 0; i < reads.size(); i++) {
    const std::string key = "lease-" + std::to_string(i);
    EXPECT_EQ(0, store.put(key));
    reads[i](key.c_str());
    EXPECT_EQ(-706, mooncake_store_remove(store, key.c_str(), 0));
    EXPECT_EQ(0, mooncake_store_remove_all(store, 0));
    EXPECT_EQ(0, mooncake_store_remove_by_regex(store, "lease", 0));
    gatun_loopback_clock_advance(10'001);
    EXPECT_EQ(0, mooncake_store_remove(store, key.c_str(), 0));
  }
}

void force_ignores_leases() {
  const TestStore store;
  EXPECT_EQ(0, store.put("a"));
  EXPECT_EQ(64, store.get("a"));
  EXPECT_EQ(0, mooncake_store_remove(store, "a", 1));
  EXPECT_EQ(-704, store.get("a"));
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(0, store.put(key));
    EXPECT_EQ(64, store.get(key));
  }
  EXPECT_EQ(1, mooncake_store_remove_by_regex(store, "^b$", 1));
  EXPECT_EQ(2, mooncake_store_remove_all(store, 1));
  EXPECT_EQ(0, mooncake_store_remove_all(store, 1));
  EXPECT_EQ(0, store.census().key_count);
  EXPECT_EQ(0, store.census().allocated_bytes);
  EXPECT_EQ(4, store.census().removed_keys);
}

void remove_all_skips_the_leased() {
  const TestStore store;
  for (int i = 0; i < 10; i++) EXPECT_EQ(0, store.put("k" + std::to_string(i)));
  EXPECT_EQ(64, store.get("k3"));
  EXPECT_EQ(9, mooncake_store_remove_all(store, 0));
  EXPECT_EQ(64, gatun_loopback_query_key(store.pool(), "k3"));
}

void regex_searches() {
  const TestStore store;
  for (const char* key : {"model@a@1", "model@b@2", "xmodel@a@3", "other"}) EXPECT_EQ(0, store.put(key));
  EXPECT_EQ(-600, mooncake_store_remove_by_regex(store, "(", 1));
  EXPECT_EQ(-600, mooncake_store_remove_by_regex(store, "a)(b", 1));
  EXPECT_EQ(-600, mooncake_store_remove_by_regex(store, std::string(4097, 'a').c_str(), 1));
  EXPECT_EQ(-600, mooncake_store_remove_by_regex(store, (std::string(40, '(') + std::string(40, ')')).c_str(), 1));
  EXPECT_EQ(0, mooncake_store_remove_by_regex(store, "nothing", 1));
  EXPECT_EQ(1, mooncake_store_remove_by_regex(store, "^model@a", 1));
  EXPECT_EQ(1, mooncake_store_remove_by_regex(store, "@a@", 1));
  EXPECT_EQ(1, mooncake_store_remove_by_regex(store, "b@[0-9]+$", 1));
  EXPECT_EQ(1, mooncake_store_remove_by_regex(store, "ot+her|never", 1));
  EXPECT_EQ(0, store.census().key_count);
  // A pattern and a key on which the usual matcher overflows its stack.
  EXPECT_EQ(0, store.put(std::string(64'000, 'a')));
  EXPECT_EQ(0, mooncake_store_remove_by_regex(store, "(a|b)*c", 1));
  EXPECT_EQ(1, mooncake_store_remove_by_regex(store, "^(a|b)*$", 1));
}

// A thread of a virtual machine may have this much left; compiling recurses once a character of the pattern.
void regex_takes_no_stack() {
  struct Call {
    const TestStore store;
    int64_t removed = 0;
    int64_t refused = 0;
    static void* run(void* self) {
      auto* const call = static_cast<Call*>(self);
      call->removed = mooncake_store_remove_by_regex(call->store, ("^k|" + std::string(4000, 'a')).c_str(), 1);
      call->refused = mooncake_store_remove_by_regex(call->store, "(", 1);
      return nullptr;
    }
  } call;
  EXPECT_EQ(0, call.store.put("k"));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  EXPECT_EQ(0, pthread_create(&thread, &attributes, &Call::run, &call));
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(1, call.removed);
  EXPECT_EQ(-600, call.refused);
}

}  // namespace

const std::vector<Check>& removal_checks() {
  static const std::vector<Check> checks = {
      {"a put grants no lease", put_grants_no_lease},
      {"reads grant leases that unforced removals honour", reads_grant_leases},
      {"forced removals ignore leases", force_ignores_leases},
      {"remove_all skips the leased", remove_all_skips_the_leased},
      {"regex searches, and never crashes", regex_searches},
      {"regex needs no stack of its caller", regex_takes_no_stack},
  };
  return checks;
}
