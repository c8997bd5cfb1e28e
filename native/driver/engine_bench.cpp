// SPDX-License-Identifier: Apache-2.0
// gatun_engine_bench: the C peer of the Java engine benchmark. Loads an engine library by path, opens a peer's segment and
// moves blocks to and fro; prints one JSON object.
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "mooncake_transfer_engine.h"

namespace {

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "gatun_engine_bench: %s\n", message.c_str());
  std::exit(1);
}

struct Options {
  std::vector<std::string> libraries;  // opened in turn, all symbols global; the last one exports the engine
  std::string peer;
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::vector<uint64_t> block_bytes = {65536, 1048576};
  std::vector<uint64_t> batches = {1, 16, 128};
  uint64_t cell_millis = 500;
};

uint64_t number(const std::string& text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') fail("not a number: " + text);
  return value;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  size_t from = 0;
  for (size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', from)) {
    list.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  list.push_back(text.substr(from));
  return list;
}

std::vector<uint64_t> numbers(const std::string& text) {
  std::vector<uint64_t> list;
  for (const std::string& word : words(text)) list.push_back(number(word));
  return list;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = argv[i + 1];
    if (flag == "--libraries") {
      options.libraries = words(value);
    } else if (flag == "--peer") {
      options.peer = value;
    } else if (flag == "--address") {
      options.address = number(value);
    } else if (flag == "--bytes") {
      options.bytes = number(value);
    } else if (flag == "--blocks") {
      options.block_bytes = numbers(value);
    } else if (flag == "--batches") {
      options.batches = numbers(value);
    } else if (flag == "--cell-millis") {
      options.cell_millis = number(value);
    } else {
      fail("not understood: " + flag);
    }
  }
  if (options.libraries.empty() || options.peer.empty() || options.address == 0 || options.bytes == 0)
    fail("--libraries, --peer, --address and --bytes are needed");
  return options;
}

struct Library {
  decltype(&createTransferEngine) create;
  decltype(&destroyTransferEngine) destroy;
  decltype(&installTransport) install;
  decltype(&openSegment) open_segment;
  decltype(&registerLocalMemory) register_memory;
  decltype(&allocateBatchID) allocate;
  decltype(&submitTransfer) submit;
  decltype(&getTransferStatus) status;
  decltype(&freeBatchID) free;
};

template <typename F>
void bind(void* library, const char* name, F& function) {
  void* const address = dlsym(library, name);
  if (address == nullptr) fail(std::string("no symbol ") + name);
  function = reinterpret_cast<F>(address);
}

Library load(const Options& options) {
  for (const std::string& path : options.libraries) {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) fail(dlerror());
  }
  Library library;
  bind(RTLD_DEFAULT, "createTransferEngine", library.create);
  bind(RTLD_DEFAULT, "destroyTransferEngine", library.destroy);
  bind(RTLD_DEFAULT, "installTransport", library.install);
  bind(RTLD_DEFAULT, "openSegment", library.open_segment);
  bind(RTLD_DEFAULT, "registerLocalMemory", library.register_memory);
  bind(RTLD_DEFAULT, "allocateBatchID", library.allocate);
  bind(RTLD_DEFAULT, "submitTransfer", library.submit);
  bind(RTLD_DEFAULT, "getTransferStatus", library.status);
  bind(RTLD_DEFAULT, "freeBatchID", library.free);
  return library;
}

int64_t now_nanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Bench {
 public:
  Bench(const Library& library, transfer_engine_t engine) : library_(library), engine_(engine) {}

  // One batch from submit to free, as the upstream benchmark does it: tasks are polled in turn without a pause.
  int64_t once(std::vector<transfer_request_t>& requests) {
    const int64_t start = now_nanos();
    const batch_id_t batch = library_.allocate(engine_, requests.size());
    if (library_.submit(engine_, batch, requests.data(), requests.size()) != 0) fail("a submit was refused");
    for (size_t i = 0; i < requests.size(); i++) {
      transfer_status_t status{};
      do {
        if (library_.status(engine_, batch, i, &status) != 0) fail("a status query failed");
      } while (status.status == STATUS_WAITING || status.status == STATUS_PENDING);
      if (status.status != STATUS_COMPLETED) fail("a transfer failed");
    }
    if (library_.free(engine_, batch) != 0) fail("a batch could not be freed");
    return now_nanos() - start;
  }

  std::vector<int64_t> measure(std::vector<transfer_request_t>& requests, uint64_t millis) {
    const int64_t half = static_cast<int64_t>(millis) * 500'000;
    for (const int64_t end = now_nanos() + half; now_nanos() < end;) once(requests);
    std::vector<int64_t> nanos;
    for (const int64_t end = now_nanos() + half; now_nanos() < end || nanos.size() < 5;) nanos.push_back(once(requests));
    return nanos;
  }

 private:
  const Library& library_;
  const transfer_engine_t engine_;
};

void print(const char* name, std::vector<int64_t> nanos) {
  std::sort(nanos.begin(), nanos.end());
  const auto count = static_cast<int64_t>(nanos.size());
  const int64_t sum = std::accumulate(nanos.begin(), nanos.end(), int64_t{0});
  std::printf(",\"%s\":{\"medianNanos\":%lld,\"meanNanos\":%lld,\"p99Nanos\":%lld,\"iterations\":%lld}", name,
              static_cast<long long>(nanos[nanos.size() / 2]), static_cast<long long>(sum / count),
              static_cast<long long>(nanos[static_cast<size_t>(0.99 * static_cast<double>(count - 1))]),
              static_cast<long long>(count));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const Library library = load(options);
  constexpr size_t kAlign = 2 << 20;
  auto* const memory = static_cast<std::byte*>(aligned_alloc(kAlign, (options.bytes + kAlign - 1) / kAlign * kAlign));
  if (memory == nullptr) fail("no memory");
  madvise(memory, options.bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, options.bytes);  // no page faults in the timed part
  const transfer_engine_t engine = library.create("P2PHANDSHAKE", "127.0.0.1:12001", "127.0.0.1", 12001, 0);
  if (engine == nullptr || library.install(engine, "tcp", nullptr) == nullptr) fail("no engine");
  if (library.register_memory(engine, memory, options.bytes, "*", 1) != 0) fail("memory could not be registered");
  const segment_id_t peer = library.open_segment(engine, options.peer.c_str());
  if (peer < 0) fail("no peer " + options.peer);
  Bench bench(library, engine);
  const char* separator = "";
  std::printf("{\"cells\":[");
  for (const uint64_t block : options.block_bytes) {
    for (const uint64_t batch : options.batches) {
      if (block * batch > options.bytes) fail("--bytes holds no batch of " + std::to_string(block * batch));
      std::printf("%s{\"blockBytes\":%llu,\"batch\":%llu", separator, static_cast<unsigned long long>(block),
                  static_cast<unsigned long long>(batch));
      separator = ",";
      for (const int opcode : {OPCODE_READ, OPCODE_WRITE}) {
        std::vector<transfer_request_t> requests;
        for (uint64_t i = 0; i < batch; i++)
          requests.push_back({opcode, memory + i * block, peer, options.address + i * block, block});
        print(opcode == OPCODE_READ ? "read" : "write", bench.measure(requests, options.cell_millis));
      }
      std::printf("}");
      std::fflush(stdout);
    }
  }
  std::printf("]}\n");
  std::fflush(stdout);
  library.destroy(engine);
  return 0;
}
