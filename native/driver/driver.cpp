// SPDX-License-Identifier: Apache-2.0
// gatun_driver: the contract of the embedded library's C ABI, then many threads against it, then proof that each mutant
// is noticed. Exits with 1 on any mismatch.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "check.h"
#include "fixture.h"
#include "peer_process.h"
#include "stress.h"

namespace {

struct Options {
  uint64_t seed = 20260901;
  uint64_t seconds = 16;
  bool mutants = true;
};

[[noreturn]] void usage(const char* wrong) {
  std::fprintf(stderr, "%s\ngatun_driver [--seed N] [--seconds N (of stress)] [--no-mutants]\n", wrong);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i++) {
    const std::string flag = argv[i];
    if (flag == "--no-mutants") {
      options.mutants = false;
      continue;
    }
    if (i + 1 >= argc || (flag != "--seed" && flag != "--seconds")) usage(("not understood: " + flag).c_str());
    char* end = nullptr;
    const uint64_t value = std::strtoull(argv[++i], &end, 10);
    if (*end != '\0' || *argv[i] == '\0') usage(("not a number: " + std::string(argv[i])).c_str());
    (flag == "--seed" ? options.seed : options.seconds) = value;
  }
  return options;
}

void run_checks(const std::vector<Check>& checks) {
  for (const Check& check : checks) {
    const int64_t before = failure_count();
    check.run();
    if (failure_count() > before) std::fprintf(stderr, "check '%s' failed\n", check.name);
  }
}

void run_stress(const Options& options) {
  const auto half = std::chrono::milliseconds(options.seconds * 500);
  const uint64_t store = stress_store(options.seed, std::chrono::steady_clock::now() + half);
  const uint64_t engine = stress_engine(options.seed, std::chrono::steady_clock::now() + half);
  std::printf("stress: %llu store steps, %llu transfers\n", static_cast<unsigned long long>(store),
              static_cast<unsigned long long>(engine));
}

// Each mutant must make some check fail; how many do not.
int survivors() {
  print_failures(false);
  int alive = 0;
  for (int id = 1; id <= gatun_loopback_mutant_count(); id++) {
    forget_failures();
    gatun_loopback_mutant(id);
    const char* killer = nullptr;
    for (const Check& check : all_checks()) {
      check.run();
      if (failure_count() == 0) continue;
      killer = check.name;
      break;
    }
    gatun_loopback_reset();
    if (killer == nullptr) alive++;
    std::printf("mutant %2d %-45s %s%s\n", id, gatun_loopback_mutant_name(id), killer ? "killed by: " : "SURVIVED",
                killer ? killer : "");
  }
  forget_failures();
  print_failures(true);
  return alive;
}

bool leaks() {
  const auto stores = gatun_loopback_live_stores();
  const auto engines = gatun_loopback_live_engines();
  const auto batches = gatun_loopback_live_batches();
  if (stores + engines + batches == 0) return false;
  std::fprintf(stderr, "left open: %lld stores, %lld engines, %lld batches\n", static_cast<long long>(stores),
               static_cast<long long>(engines), static_cast<long long>(batches));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  PeerProcess::prepare();  // before this process has threads, or anything to print
  std::printf("seed %llu, %llu s of stress\n", static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.seconds));
  // A hang is a failure as well: SIGALRM ends the process.
  constexpr unsigned kHungSeconds = 300;
  alarm(static_cast<unsigned>(options.seconds) + kHungSeconds);
  run_checks(all_checks());
  run_checks(verbs_checks());  // the mutants are none of theirs
  run_stress(options);
  const int64_t failures = failure_count();
  const bool leaked = leaks();
  const int alive = options.mutants && failures == 0 ? survivors() : 0;
  std::printf("%zu checks, %lld failures, %d surviving mutants\n", all_checks().size() + verbs_checks().size(),
              static_cast<long long>(failures), alive);
  return failures == 0 && !leaked && alive == 0 ? 0 : 1;
}
