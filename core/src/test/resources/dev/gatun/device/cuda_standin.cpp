// A CUDA driver made of host memory, for testing those who call one: every function of gatun_cuda.h. Work is queued and done
// in stream order when somebody asks for it, so that a caller who does not wait finds it undone. As on a GPU, calls without
// a context, unknown handles and addresses that are neither device nor pinned memory are errors.
#include "gatun_cuda.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using u64 = uint64_t;

enum { kOk = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 101, kNoContext = 201, kInvalidHandle = 400,
       kNotFound = 500, kNotReady = 600, kIllegalAddress = 700, kAlreadyPinned = 712, kNotPinned = 713 };

constexpr int kDevices = 2;
constexpr u64 kCapacity = 1ULL << 30;

struct Mark {
  bool done = false;
  double millis = 0;
};
struct Stream {
  std::deque<std::function<bool()>> work;  // false: cannot go on yet
};
struct Event {
  std::shared_ptr<Mark> last;
};
struct Module {
  std::set<std::string> kernels;
};
struct Range {
  u64 bytes;
  int owner;  // -1: pinned, -2: another process's
  int file = -1;
  int opened = 0;
  ~Range() {
    if (owner == -1) return;
    munmap(base, bytes);
    if (file >= 0) close(file);
  }
  void *base = nullptr;
};

std::recursive_mutex lock;
thread_local std::vector<u64> contexts;
std::map<u64, std::unique_ptr<Range>> ranges;
std::map<u64, Stream> streams;
std::map<u64, Event> events;
std::map<u64, Module> modules;
std::map<u64, std::string> functions;
u64 last_handle = 0x1000;
int failed = kOk;

#define LOCKED std::lock_guard<std::recursive_mutex> guard(lock)
#define NEEDS_CONTEXT                                                  \
  LOCKED;                                                              \
  do {                                                                 \
    if (failed != kOk) return failed;                                  \
    if (contexts.empty()) return kNoContext;                           \
  } while (0)
#define NEEDS(condition, error) \
  do {                          \
    if (!(condition)) return error; \
  } while (0)

int ordinal() { return static_cast<int>(contexts.back()) - 1; }

unsigned char *at(u64 address, u64 bytes) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin()) return nullptr;
  auto range = std::prev(next);
  if (address + bytes > range->first + range->second->bytes) return nullptr;
  return reinterpret_cast<unsigned char *>(address);
}

bool move_bytes(u64 to, u64 from, u64 bytes) {
  unsigned char *target = at(to, bytes), *source = at(from, bytes);
  if (target == nullptr || source == nullptr) return false;
  std::memmove(target, source, bytes);
  return true;
}

void pump() {
  for (bool progress = true; progress && failed == kOk;) {
    progress = false;
    for (auto &entry : streams)
      while (failed == kOk && !entry.second.work.empty() && entry.second.work.front()()) {
        entry.second.work.pop_front();
        progress = true;
      }
  }
}

int queue(u64 stream, std::function<bool()> work) {
  auto found = streams.find(stream);
  if (found == streams.end()) return kInvalidHandle;
  found->second.work.push_back(std::move(work));
  return kOk;
}

int queue_copy(u64 stream, u64 to, u64 from, u64 bytes) {
  return queue(stream, [=] {
    if (!move_bytes(to, from, bytes)) failed = kIllegalAddress;
    return true;
  });
}

double now_millis() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

// gatun_gather_W, gatun_scatter_W and gatun_move_W of native/kernels
bool pages(const std::string &name, u64 first, u64 second, u64 count, u64 bytes) {
  const u64 width = std::stoul(name.substr(name.rfind('_') + 1));
  const bool from_table = name.find("scatter") == std::string::npos, to_table = name.find("gather") == std::string::npos;
  for (u64 i = 0; i < count; i++) {
    u64 from = first + i * bytes, to = second + i * bytes;
    if (from_table) {
      if (at(first + i * 8, 8) == nullptr) return false;
      from = reinterpret_cast<u64 *>(first)[i];
    }
    if (to_table) {
      if (at(second + i * 8, 8) == nullptr) return false;
      to = reinterpret_cast<u64 *>(second)[i];
    }
    if ((from | to | bytes) % width != 0 || !move_bytes(to, from, bytes)) return false;
  }
  return true;
}

// gatun_known_fill and, with `found`, gatun_known_check of native/kernels
u64 known_word(u64 first, u64 index) {
  const u64 golden = 0x9E3779B97F4A7C15ull, in_run = (index - 4) % 512;
  u64 z = (in_run + 1) * golden;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return (z ^ (z >> 31)) + first + (index - in_run) * golden;
}

bool known(const u64 *p, u64 found) {
  const u64 fragments = p[2], count = p[3], bytes = p[4], words = bytes / 8;
  for (u64 i = 0; i < count * fragments * words; i++) {
    const u64 fragment = i / words, page = fragment / fragments, word = i - page * fragments * words;
    const u64 place = p[0] + 8 * fragment, header = p[1] + 32 * page, verdict = found + 40 * page;
    if (!at(place, 8) || !at(header, 32) || (found != 0 && !at(verdict, 40))) return false;
    const u64 address = *reinterpret_cast<u64 *>(place) + i % words * 8, first = *reinterpret_cast<u64 *>(header);
    if (address % 8 != 0 || !at(address, 8)) return false;
    const u64 expected = word < 4 ? reinterpret_cast<u64 *>(header)[word] : known_word(first, word);
    u64 *value = reinterpret_cast<u64 *>(address), *verdicts = reinterpret_cast<u64 *>(verdict);
    if (found == 0) *value = expected;
    else if (word < 4) verdicts[1 + word] = *value;
    if (*value != expected) verdicts[0] = 1;
  }
  return true;
}

// gatun_push_W of native/kernels
bool push(const std::string &name, const u64 *p) {
  const u64 width = std::stoul(name.substr(name.rfind('_') + 1)), places = p[3], blocks = p[4], bytes = p[5];
  for (u64 i = 0; i < places * blocks; i++) {
    const u64 place = 8 * (i % places), pair = 16 * (i / places);
    if (!at(p[0] + place, 8) || !at(p[1] + place, 8) || !at(p[2] + pair, 16)) return false;
    const u64 *pairs = reinterpret_cast<u64 *>(p[2] + pair);
    const u64 from = *reinterpret_cast<u64 *>(p[0] + place) + pairs[0];
    const u64 to = *reinterpret_cast<u64 *>(p[1] + place) + pairs[1];
    if ((from | to | bytes) % width != 0 || !move_bytes(to, from, bytes)) return false;
  }
  return true;
}

}  // namespace

extern "C" {

int cuInit(unsigned int) { return kOk; }
int cuDriverGetVersion(int *version) { return *version = 12080, kOk; }
int cuGetErrorName(int error, const char **name) {
  static const std::map<int, const char *> names = {
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"}, {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kNoDevice, "CUDA_ERROR_INVALID_DEVICE"},    {kNoContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"}, {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {kAlreadyPinned, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
      {kNotPinned, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"}};
  auto found = names.find(error);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? kInvalidValue : kOk;
}
int cuGetErrorString(int error, const char **text) {
  const int known = cuGetErrorName(error, text);
  if (known == kOk) *text = "as the stand-in says";
  return known;
}
int cuDeviceGetCount(int *count) { return *count = kDevices, kOk; }
int cuDeviceGet(int *device, int ordinal) {
  NEEDS(ordinal >= 0 && ordinal < kDevices, kNoDevice);
  return *device = ordinal, kOk;
}
int cuDeviceGetName(char *name, int bytes, int) { return std::strncpy(name, "stand-in", bytes), kOk; }
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
  std::memset(uuid, 0x10 + device, GATUN_CUDA_UUID_BYTES);
  return kOk;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  static const std::map<int, int> values = {{GATUN_CUDA_ATTRIBUTE_MULTIPROCESSORS, 132},
                                            {GATUN_CUDA_ATTRIBUTE_COPY_ENGINES, 3},
                                            {GATUN_CUDA_ATTRIBUTE_COMPUTE_MAJOR, 9},
                                            {GATUN_CUDA_ATTRIBUTE_COMPUTE_MINOR, 0},
                                            {GATUN_CUDA_ATTRIBUTE_HOST_POINTER_OF_REGISTERED, 1}};
  auto found = values.find(attribute);
  NEEDS(found != values.end(), kInvalidValue);
  return *value = found->second, kOk;
}
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = kCapacity, kOk; }

static int retained[kDevices];
int cuDevicePrimaryCtxRetain(u64 *context, int device) {
  LOCKED;
  NEEDS(device >= 0 && device < kDevices, kInvalidValue);
  retained[device]++;
  return *context = device + 1, kOk;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  LOCKED;
  NEEDS(device >= 0 && device < kDevices && retained[device] > 0, kInvalidValue);
  return retained[device]--, kOk;
}
// no call of Gatun's; tests ask
extern "C" int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  LOCKED;
  NEEDS(device >= 0 && device < kDevices, kInvalidValue);
  return *flags = 0, *active = retained[device] > 0, kOk;
}
int cuCtxGetCurrent(u64 *context) { return *context = contexts.empty() ? 0 : contexts.back(), kOk; }
int cuCtxPushCurrent_v2(u64 context) { return contexts.push_back(context), kOk; }
int cuCtxPopCurrent_v2(u64 *context) {
  NEEDS(!contexts.empty(), kNoContext);
  if (context != nullptr) *context = contexts.back();
  return contexts.pop_back(), kOk;
}
int cuCtxGetStreamPriorityRange(int *least, int *greatest) { return *least = 0, *greatest = -5, kOk; }

static u64 used(int owner) {
  u64 sum = 0;
  for (auto &range : ranges) sum += range.second->owner == owner ? range.second->bytes : 0;
  return sum;
}
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
  NEEDS_CONTEXT;
  return *free_bytes = kCapacity - used(ordinal()), *total_bytes = kCapacity, kOk;
}
int cuMemAlloc_v2(u64 *address, size_t bytes) {
  NEEDS_CONTEXT;
  NEEDS(bytes > 0, kInvalidValue);
  NEEDS(bytes <= kCapacity - used(ordinal()), kOutOfMemory);
  const int file = memfd_create("stand-in", MFD_CLOEXEC);
  NEEDS(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0, kOutOfMemory);
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  NEEDS(base != MAP_FAILED, kOutOfMemory);
  std::memset(base, 0xA5, bytes);
  *address = reinterpret_cast<u64>(base);
  ranges[*address].reset(new Range{bytes, ordinal(), file, 0, base});
  return kOk;
}
int cuMemFree_v2(u64 address) {
  NEEDS_CONTEXT;
  auto range = ranges.find(address);
  NEEDS(range != ranges.end() && range->second->owner >= 0, kInvalidValue);
  return ranges.erase(range), kOk;
}
int cuMemHostAlloc(u64 *, size_t, unsigned int) { return kOutOfMemory; }
int cuMemFreeHost(u64) { return kInvalidValue; }
int cuMemHostRegister_v2(u64 address, size_t bytes, unsigned int flags) {
  NEEDS_CONTEXT;
  NEEDS(bytes > 0 && flags == (GATUN_CUDA_HOST_PORTABLE | GATUN_CUDA_HOST_MAPPED), kInvalidValue);
  NEEDS(at(address, 1) == nullptr, kAlreadyPinned);
  ranges[address].reset(new Range{bytes, -1});
  return kOk;
}
int cuMemHostUnregister(u64 address) {
  NEEDS_CONTEXT;
  auto range = ranges.find(address);
  NEEDS(range != ranges.end() && range->second->owner == -1, kNotPinned);
  return ranges.erase(range), kOk;
}
int cuPointerGetAttribute(void *value, int attribute, u64 address) {
  NEEDS_CONTEXT;
  NEEDS(at(address, 1) != nullptr, kInvalidValue);
  const int owner = std::prev(ranges.upper_bound(address))->second->owner;
  if (attribute == GATUN_CUDA_POINTER_MEMORY_TYPE)
    *static_cast<uint32_t *>(value) = owner == -1 ? GATUN_CUDA_MEMORY_HOST : GATUN_CUDA_MEMORY_DEVICE;
  else if (attribute == GATUN_CUDA_POINTER_DEVICE_ORDINAL)
    *static_cast<int32_t *>(value) = owner;
  else
    return kInvalidValue;
  return kOk;
}

int cuMemGetAddressRange_v2(u64 *base, size_t *bytes, u64 address) {
  NEEDS_CONTEXT;
  NEEDS(at(address, 1) != nullptr, kInvalidValue);
  auto range = std::prev(ranges.upper_bound(address));
  NEEDS(range->second->owner != -1, kInvalidValue);
  return *base = range->first, *bytes = range->second->bytes, kOk;
}
int cuIpcGetMemHandle(gatun_cuda_ipc_handle *handle, u64 address) {
  NEEDS_CONTEXT;
  auto range = ranges.find(address);
  NEEDS(range != ranges.end() && range->second->owner >= 0, kInvalidValue);
  std::memset(handle, 0, sizeof *handle);
  std::snprintf(reinterpret_cast<char *>(handle->bytes), sizeof handle->bytes, "/proc/%d/fd/%d", getpid(),
                range->second->file);
  return kOk;
}
int cuIpcOpenMemHandle_v2(u64 *address, gatun_cuda_ipc_handle handle, unsigned int flags) {
  NEEDS_CONTEXT;
  NEEDS(flags == GATUN_CUDA_IPC_PEER_ACCESS, kInvalidValue);
  static std::map<std::string, u64> &known = *new std::map<std::string, u64>();
  const std::string path(reinterpret_cast<char *>(handle.bytes));
  if (known.count(path) == 1 && ranges.count(known[path]) == 1 && ranges[known[path]]->owner == -2)
    return ranges[*address = known[path]]->opened++, kOk;
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status;
  NEEDS(file >= 0 && fstat(file, &status) == 0 && status.st_size > 0, kInvalidValue);
  const u64 bytes = static_cast<u64>(status.st_size);
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  NEEDS(base != MAP_FAILED, kInvalidValue);
  *address = known[path] = reinterpret_cast<u64>(base);
  ranges[*address].reset(new Range{bytes, -2, file, 1, base});
  return kOk;
}
int cuIpcCloseMemHandle(u64 address) {
  NEEDS_CONTEXT;
  auto range = ranges.find(address);
  NEEDS(range != ranges.end() && range->second->owner == -2, kInvalidValue);
  if (--range->second->opened == 0) ranges.erase(range);
  return kOk;
}

int cuMemcpyHtoDAsync_v2(u64 device, u64 host, size_t bytes, u64 stream) {
  NEEDS_CONTEXT;
  return queue_copy(stream, device, host, bytes);
}
int cuMemcpyDtoHAsync_v2(u64 host, u64 device, size_t bytes, u64 stream) {
  NEEDS_CONTEXT;
  return queue_copy(stream, host, device, bytes);
}
int cuMemcpyDtoDAsync_v2(u64 target, u64 source, size_t bytes, u64 stream) {
  NEEDS_CONTEXT;
  return queue_copy(stream, target, source, bytes);
}
int cuMemsetD8Async(u64 address, unsigned char value, size_t bytes, u64 stream) {
  NEEDS_CONTEXT;
  return queue(stream, [=] {
    if (at(address, bytes) == nullptr)
      failed = kIllegalAddress;
    else
      std::memset(at(address, bytes), value, bytes);
    return true;
  });
}
int cuMemcpyBatchAsync(u64 targets, u64 sources, u64 sizes, size_t count, u64 attributes, u64 first_copies,
                       size_t attribute_count, u64 failed_copy, u64 stream) {
  NEEDS_CONTEXT;
  const auto array = [](u64 address) { return reinterpret_cast<const u64 *>(address); };
  NEEDS(attribute_count == 1 && array(first_copies)[0] == 0 && failed_copy != 0, kInvalidValue);
  const auto *how = reinterpret_cast<const gatun_cuda_copy_attributes *>(attributes);
  NEEDS(how->source_order == GATUN_CUDA_SOURCE_ORDER_STREAM && how->flags == 0, kInvalidValue);
  NEEDS(count < 512, kInvalidValue);  // the real one (580.159.04) crashes then, sooner or later
  for (size_t i = 0; i < count; i++)
    NEEDS(queue_copy(stream, array(targets)[i], array(sources)[i], array(sizes)[i]) == kOk, kInvalidHandle);
  return kOk;
}

int cuStreamCreateWithPriority(u64 *stream, unsigned int flags, int priority) {
  NEEDS_CONTEXT;
  NEEDS(flags == GATUN_CUDA_STREAM_NON_BLOCKING && priority <= 0 && priority >= -5, kInvalidValue);
  return streams[*stream = ++last_handle], kOk;
}
int cuStreamDestroy_v2(u64 stream) {
  NEEDS_CONTEXT;
  return streams.erase(stream) == 1 ? kOk : kInvalidHandle;
}
int cuStreamQuery(u64 stream) {
  NEEDS_CONTEXT;
  NEEDS(streams.count(stream) == 1, kInvalidHandle);
  pump();
  return failed != kOk ? failed : streams[stream].work.empty() ? kOk : kNotReady;
}
int cuStreamSynchronize(u64 stream) {
  for (int code = kNotReady; code == kNotReady;)
    if ((code = cuStreamQuery(stream)) != kNotReady) return code;
  return kOk;
}
int cuStreamWaitEvent(u64 stream, u64 event, unsigned int) {
  NEEDS_CONTEXT;
  NEEDS(events.count(event) == 1, kInvalidHandle);
  std::shared_ptr<Mark> mark = events[event].last;
  return queue(stream, [mark] { return mark == nullptr || mark->done; });
}
int cuEventCreate(u64 *event, unsigned int) {
  NEEDS_CONTEXT;
  return events[*event = ++last_handle], kOk;
}
int cuEventDestroy_v2(u64 event) {
  NEEDS_CONTEXT;
  return events.erase(event) == 1 ? kOk : kInvalidHandle;
}
int cuEventRecord(u64 event, u64 stream) {
  NEEDS_CONTEXT;
  NEEDS(events.count(event) == 1, kInvalidHandle);
  auto mark = std::make_shared<Mark>();
  events[event].last = mark;
  return queue(stream, [mark] { return mark->millis = now_millis(), mark->done = true; });
}
int cuEventQuery(u64 event) {
  NEEDS_CONTEXT;
  NEEDS(events.count(event) == 1, kInvalidHandle);
  pump();
  return failed != kOk ? failed : events[event].last == nullptr || events[event].last->done ? kOk : kNotReady;
}
int cuEventSynchronize(u64 event) {
  for (int code = kNotReady; code == kNotReady;)
    if ((code = cuEventQuery(event)) != kNotReady) return code;
  return kOk;
}
int cuEventElapsedTime(float *millis, u64 first, u64 last) {
  NEEDS_CONTEXT;
  return *millis = static_cast<float>(events[last].last->millis - events[first].last->millis), kOk;
}

int cuModuleLoadData(u64 *module, const void *image) {
  NEEDS_CONTEXT;
  const std::string text(static_cast<const char *>(image));
  Module made;
  for (size_t i = text.find(".entry "); i != std::string::npos; i = text.find(".entry ", i + 1))
    made.kernels.insert(text.substr(i + 7, text.find('(', i) - i - 7));
  NEEDS(!made.kernels.empty(), kInvalidValue);
  return modules[*module = ++last_handle] = made, kOk;
}
int cuModuleUnload(u64 module) {
  NEEDS_CONTEXT;
  return modules.erase(module) == 1 ? kOk : kInvalidHandle;
}
int cuModuleGetFunction(u64 *function, u64 module, const char *name) {
  NEEDS_CONTEXT;
  NEEDS(modules.count(module) == 1, kInvalidHandle);
  NEEDS(modules[module].kernels.count(name) == 1, kNotFound);
  return functions[*function = ++last_handle] = name, kOk;
}
int cuLaunchKernel(u64 function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                   unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, u64 stream, u64 parameters,
                   u64 extra) {
  NEEDS_CONTEXT;
  NEEDS(functions.count(function) == 1, kInvalidHandle);
  NEEDS(grid_x > 0 && grid_y == 1 && grid_z == 1 && block_x > 0 && block_x <= 1024 && block_y == 1 && block_z == 1 &&
            shared_bytes == 0 && extra == 0, kInvalidValue);
  const std::string name = functions[function];
  u64 **values = reinterpret_cast<u64 **>(parameters);
  if (name == "gatun_hold") {
    const volatile uint32_t *flag = reinterpret_cast<const volatile uint32_t *>(*values[0]);
    return queue(stream, [flag] { return *flag != 0; });
  }
  if (name.find("push") != std::string::npos) {
    std::vector<u64> numbers;
    for (int i = 0; i < 6; i++) numbers.push_back(*values[i]);
    return queue(stream, [=] {
      if (!push(name, numbers.data())) failed = kIllegalAddress;
      return true;
    });
  }
  if (name.find("known") != std::string::npos) {
    std::vector<u64> numbers;
    for (int i = 0; i < 5; i++) numbers.push_back(*values[i]);
    const u64 found = name == "gatun_known_check" ? *values[5] : 0;
    return queue(stream, [=] {
      if (!known(numbers.data(), found)) failed = kIllegalAddress;
      return true;
    });
  }
  const u64 first = *values[0], second = *values[1], count = *values[2], bytes = *values[3];
  return queue(stream, [=] {
    if (!pages(name, first, second, count, bytes)) failed = kIllegalAddress;
    return true;
  });
}

}  // extern "C"
