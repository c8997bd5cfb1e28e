// SPDX-License-Identifier: Apache-2.0
// What happens between two steps of an operation, by faults that hold it there.
#include <atomic>
#include <cstring>

#include "check.h"
#include "fixture.h"

namespace {

void arm(const char* point, int action, int64_t argument = 0, uint64_t count = 0) {
  EXPECT_EQ(0, gatun_loopback_fault_arm(point, action, argument, count));
}

Undo releasing(const char* point) {
  return Undo([point] { gatun_loopback_fault_release(point); });
}

void hanging(const char* point, int64_t threads = 1) {
  eventually(point, [&] { return gatun_loopback_fault_hanging(point) == threads; });
}

void a_put_in_flight_is_invisible() {
  const TestStore store;
  const Undo undo = releasing("put.before_end");
  arm("put.before_end", GATUN_LOOPBACK_FAULT_HANG, 0, 1);
  std::atomic<int> code{7};
  Aside writer([&] { code = store.put("k"); });
  hanging("put.before_end");
  EXPECT_EQ(0, mooncake_store_is_exist(store, "k"));
  EXPECT_EQ(-703, mooncake_store_get_size(store, "k"));
  EXPECT_EQ(-703, store.get("k"));
  EXPECT_EQ(-703, mooncake_store_remove(store, "k", 0));
  EXPECT_EQ(-703, mooncake_store_remove(store, "k", 1));
  EXPECT_EQ(0, mooncake_store_remove_by_regex(store, "k", 1));
  EXPECT_EQ(0, mooncake_store_remove_all(store, 1));
  EXPECT_EQ(0, store.put("k", 80));  // somebody else is about to: success, nothing written
  const auto census = store.census();
  EXPECT_EQ(1, census.key_count);
  EXPECT_EQ(0, census.complete_count);
  uint64_t cursor = 0;
  char keys[64];
  EXPECT_EQ(0, gatun_loopback_list_keys(store.pool(), &cursor, keys, sizeof keys));
  gatun_loopback_fault_release("put.before_end");
  writer.join();
  EXPECT_EQ(0, code.load());
  EXPECT_EQ(64, store.get("k"));  // it survived the removals: why a refit needs the census
}

void an_abandoned_put_stays_in_flight() {
  const TestStore store;
  const Undo undo = releasing("put.before_end");
  arm("put.before_end", GATUN_LOOPBACK_FAULT_FAIL, -900, 1);
  EXPECT_EQ(-900, store.put("k"));
  EXPECT_EQ(-703, store.get("k"));
  EXPECT_EQ(0, mooncake_store_remove_all(store, 1));
  EXPECT_EQ(1, store.census().key_count);
  EXPECT_EQ(0, store.put("k", 80));
  EXPECT_EQ(-703, store.get("k"));  // not yet
  gatun_loopback_clock_advance(30'001);
  EXPECT_EQ(0, store.put("k", 80));
  EXPECT_EQ(80, store.get("k"));
}

void a_failed_put_is_revoked() {
  const TestStore store;
  const Undo undo = releasing("put.before_copy");
  arm("put.before_copy", GATUN_LOOPBACK_FAULT_FAIL, -800, 1);
  EXPECT_EQ(-800, store.put("k"));
  EXPECT_EQ(0, store.census().key_count);
  EXPECT_EQ(0, store.census().allocated_bytes);
  EXPECT_EQ(1, store.census().put_revokes);
  EXPECT_EQ(0, store.put("k"));
  EXPECT_EQ(64, store.get("k"));
}

void a_get_is_not_torn() {
  const TestStore store;
  const Undo undo = releasing("get.before_copy");
  EXPECT_EQ(0, store.put("k", kMiB));
  arm("get.before_copy", GATUN_LOOPBACK_FAULT_HANG, 0, 1);
  std::atomic<int64_t> got{7};
  Aside reader([&] { got = store.get("k", kMiB); });
  hanging("get.before_copy");
  EXPECT_EQ(0, mooncake_store_remove(store, "k", 1));
  EXPECT_EQ(kMiB, store.census().allocated_bytes);  // not reusable while it is read
  for (int i = 0; i < 12; i++) EXPECT_EQ(0, store.put("over-" + std::to_string(i), kMiB));
  gatun_loopback_fault_release("get.before_copy");
  reader.join();
  EXPECT_EQ(kMiB, got.load());
  EXPECT_EQ(12 * kMiB, store.census().allocated_bytes);
}

void a_get_that_outlasts_its_lease_says_so() {
  const TestStore store;
  const Undo undo = releasing("get.before_copy");
  EXPECT_EQ(0, store.put("k"));
  arm("get.before_copy", GATUN_LOOPBACK_FAULT_HANG, 0, 1);
  std::atomic<int64_t> got{7};
  char page[64];
  Aside reader([&] { got = mooncake_store_get_into(store, "k", page, sizeof page); });
  hanging("get.before_copy");
  gatun_loopback_clock_advance(10'001);
  gatun_loopback_fault_release("get.before_copy");
  reader.join();
  EXPECT_EQ(-707, got.load());
}

void a_failing_step_fails_its_key_alone() {
  const TestStore store;
  const Undo undo = releasing("put.before_start");
  EXPECT_EQ(0, gatun_loopback_fault_arm_after("put.before_start", GATUN_LOOPBACK_FAULT_FAIL, -200, 1, 1));
  std::vector<std::byte> page(64);
  const char* keys[] = {"a", "b", "c"};
  void* buffers[] = {page.data(), page.data(), page.data()};
  const size_t sizes[] = {64, 64, 64};
  int codes[3] = {7, 7, 7};
  EXPECT_EQ(0, mooncake_store_batch_put_from(store, keys, buffers, sizes, 3, nullptr, codes));
  EXPECT_EQ(0, codes[0]);
  EXPECT_EQ(-200, codes[1]);
  EXPECT_EQ(0, codes[2]);
  EXPECT_EQ(3, gatun_loopback_fault_hits("put.before_start"));
  EXPECT_EQ(2, store.census().key_count);
}

void a_removal_can_be_dropped_or_cut_short() {
  const TestStore store;
  const Undo undo = releasing("remove_all.before");
  const Undo undo_middle = releasing("remove_all.middle");
  for (int i = 0; i < 100; i++) EXPECT_EQ(0, store.put("k" + std::to_string(i)));
  arm("remove_all.before", GATUN_LOOPBACK_FAULT_SKIP, 0, 1);
  EXPECT_EQ(0, mooncake_store_remove_all(store, 1));
  EXPECT_EQ(100, store.census().key_count);
  arm("remove_all.middle", GATUN_LOOPBACK_FAULT_FAIL, -901, 1);
  EXPECT_EQ(-901, mooncake_store_remove_all(store, 1));
  const auto left = store.census().key_count;
  EXPECT(left > 0 && left < 100);
  EXPECT_EQ(left, mooncake_store_remove_all(store, 1));
}

void a_master_down_answers_minus_900() {
  const TestStore store;
  EXPECT_EQ(0, store.put("k"));
  const Undo undo([&] { gatun_loopback_master_set(store.pool(), GATUN_LOOPBACK_MASTER_UP); });
  EXPECT_EQ(0, gatun_loopback_master_set(store.pool(), GATUN_LOOPBACK_MASTER_DOWN));
  EXPECT_EQ(-900, store.put("other"));
  EXPECT_EQ(-900, store.get("k"));
  EXPECT_EQ(-900, mooncake_store_is_exist(store, "k"));
  const char* key = "k";
  int code = 7;
  EXPECT_EQ(0, mooncake_store_batch_is_exist(store, &key, 1, &code));
  EXPECT_EQ(-900, code);
  EXPECT_EQ(-900, mooncake_store_get_size(store, "k"));
  EXPECT_EQ(-900, mooncake_store_remove(store, "k", 1));
  EXPECT_EQ(-900, mooncake_store_remove_all(store, 1));
  EXPECT_EQ(2, mooncake_store_health_check(store));
  const mooncake_store_t late = mooncake_store_create();
  EXPECT_EQ(-600, mooncake_store_setup(late, "h", "P2PHANDSHAKE", 0, 0, "tcp", "", store.pool()));
  mooncake_store_destroy(late);
  EXPECT_EQ(0, gatun_loopback_master_set(store.pool(), GATUN_LOOPBACK_MASTER_UP));
  EXPECT_EQ(64, store.get("k"));
}

void a_frozen_master_answers_when_it_thaws() {
  const TestStore store;
  EXPECT_EQ(0, store.put("k"));
  const Undo undo([&] { gatun_loopback_master_set(store.pool(), GATUN_LOOPBACK_MASTER_UP); });
  EXPECT_EQ(0, gatun_loopback_master_set(store.pool(), GATUN_LOOPBACK_MASTER_FROZEN));
  std::atomic<int64_t> got{7};
  Aside reader([&] { got = store.get("k"); });
  eventually("a call hangs", [&] { return gatun_loopback_master_hanging(store.pool()) == 1; });
  EXPECT_EQ(7, got.load());
  EXPECT_EQ(0, gatun_loopback_master_set(store.pool(), GATUN_LOOPBACK_MASTER_UP));
  reader.join();
  EXPECT_EQ(64, got.load());
}

void a_restart_or_a_lost_segment_fails_a_running_put() {
  const TestStore store;
  const Undo undo = releasing("put.before_end");
  for (const bool restart : {true, false}) {
    EXPECT_EQ(0, store.put("there"));
    arm("put.before_end", GATUN_LOOPBACK_FAULT_HANG, 0, 1);
    std::atomic<int> code{7};
    Aside writer([&] { code = store.put("k"); });
    hanging("put.before_end");
    EXPECT_EQ(0, restart ? gatun_loopback_master_restart(store.pool())
                         : gatun_loopback_segment_lost(store.pool(), store.hostname().c_str()));
    EXPECT_EQ(-704, store.get("there"));
    gatun_loopback_fault_release("put.before_end");
    writer.join();
    EXPECT_EQ(-704, code.load());
    EXPECT_EQ(0, store.census().key_count);
    EXPECT_EQ(0, store.census().allocated_bytes);
  }
}

void destroy_waits_for_running_calls() {
  const std::string pool = fresh_pool();
  const TestStore keeps(pool);
  EXPECT_EQ(0, keeps.put("k"));
  const mooncake_store_t store = mooncake_store_create();
  EXPECT_EQ(0, mooncake_store_setup(store, "h", "P2PHANDSHAKE", 0, 0, "tcp", "", pool.c_str()));
  const Undo undo = releasing("get.before_copy");
  arm("get.before_copy", GATUN_LOOPBACK_FAULT_HANG, 0, 1);
  std::atomic<bool> destroyed{false};
  std::atomic<int64_t> got{7};
  char page[64];
  Aside reader([&] { got = mooncake_store_get_into(store, "k", page, sizeof page); });
  hanging("get.before_copy");
  Aside destroyer([&] {
    mooncake_store_destroy(store);
    destroyed = true;
  });
  eventually("new calls are refused", [&] { return mooncake_store_health_check(store) == -1; });
  EXPECT(!destroyed);
  gatun_loopback_fault_release("get.before_copy");
  reader.join();
  destroyer.join();
  EXPECT_EQ(64, got.load());
}

void unknown_points_and_actions_are_refused() {
  EXPECT_EQ(-600, gatun_loopback_fault_arm("no.such.point", GATUN_LOOPBACK_FAULT_FAIL, 0, 0));
  EXPECT_EQ(-600, gatun_loopback_fault_arm("exists", 9, 0, 0));
  EXPECT_EQ(-1, gatun_loopback_fault_arm(nullptr, GATUN_LOOPBACK_FAULT_FAIL, 0, 0));
  int points = 0;
  while (const char* point = gatun_loopback_fault_point(points)) {
    EXPECT_EQ(0, gatun_loopback_fault_release(point));
    points++;
  }
  EXPECT_EQ(25, points);
}

}  // namespace

const std::vector<Check>& fault_checks() {
  static const std::vector<Check> checks = {
      {"a put in flight is invisible and survives removals", a_put_in_flight_is_invisible},
      {"an abandoned put stays in flight until it may be taken over", an_abandoned_put_stays_in_flight},
      {"a failed put is revoked", a_failed_put_is_revoked},
      {"a get is not torn by a forced removal", a_get_is_not_torn},
      {"a get that outlasts its lease says so", a_get_that_outlasts_its_lease_says_so},
      {"a failing step fails its key alone", a_failing_step_fails_its_key_alone},
      {"a removal can be dropped or cut short", a_removal_can_be_dropped_or_cut_short},
      {"a master that is down answers -900", a_master_down_answers_minus_900},
      {"a frozen master answers when it thaws", a_frozen_master_answers_when_it_thaws},
      {"a restart or a lost segment fails a running put", a_restart_or_a_lost_segment_fails_a_running_put},
      {"destroy waits for running calls", destroy_waits_for_running_calls},
      {"unknown fault points and actions are refused", unknown_points_and_actions_are_refused},
  };
  return checks;
}
