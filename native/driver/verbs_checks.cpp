// SPDX-License-Identifier: Apache-2.0
// The shim over copies of the stand-in, whose devices are written beside them.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "gatun_verbs.h"

namespace {

namespace fs = std::filesystem;

constexpr char kTwoDevices[] =
    "device name=mlx5_0 guid=0x0c42a10300f0b1e2 firmware=28.39.1002 max_mr_size=1048576 max_mr=1000 register_max=65536\n"
    "port state=4 link=2 mtu=3 mtu_max=5 width=2 speed=64 physical=5 gids=4\n"
    "gid index=1 bytes=fe800000000000000e42a1fffef0b1e2 type=1 interface=7\n"
    "gid index=3 bytes=00000000000000000000ffff0a000001 type=2 interface=7\n"
    "port state=1 link=2 mtu=1 mtu_max=5 physical=3\n"
    "device name=mlx5_1 open=13\n";

// Copies in a folder of their own, opened once: a process has room for few libraries.
struct StandIns {
  StandIns() : folder(fs::temp_directory_path() / ("gatun-verbs-" + std::to_string(getpid()))) {
    fs::create_directories(folder);
    now = open("libgatun_verbs_standin.so");
    old = open("libgatun_verbs_standin_old.so");
  }
  ~StandIns() { fs::remove_all(folder); }

  fs::path copy(const char* name) const { return folder / name; }
  void devices(const char* name, const std::string& text) const {
    std::ofstream(copy(name).string() + ".devices") << text;
  }
  // What the stand-in has given out and not been given back.
  int live() const {
    void* handle = dlopen(copy("libgatun_verbs_standin.so").c_str(), RTLD_NOW);
    const auto count = reinterpret_cast<int (*)()>(dlsym(handle, "gatun_verbs_standin_live"))();
    dlclose(handle);
    return count;
  }

  fs::path folder;
  int32_t now = 0;
  int32_t old = 0;

 private:
  int32_t open(const char* name) {
    fs::copy_file(fs::read_symlink("/proc/self/exe").parent_path() / name, copy(name),
                  fs::copy_options::overwrite_existing);
    devices(name, kTwoDevices);
    char reason[256];
    return gatun_verbs_open_library(copy(name).c_str(), reason, sizeof reason);
  }
};

const StandIns& stand_ins() {
  static const StandIns made;
  made.devices("libgatun_verbs_standin.so", kTwoDevices);
  return made;
}

void libraries_open_once() {
  const StandIns& made = stand_ins();
  char reason[256] = "x";
  EXPECT(made.now > 0 && made.old > 0 && made.now != made.old);
  EXPECT_EQ(made.now, gatun_verbs_open_library(made.copy("libgatun_verbs_standin.so").c_str(), reason, sizeof reason));
  EXPECT_EQ(0, std::strlen(reason));
  EXPECT_EQ(-ENOENT, gatun_verbs_open_library((made.folder / "libnone.so").c_str(), reason, sizeof reason));
  EXPECT(std::string(reason).find("libnone.so") != std::string::npos);
  EXPECT_EQ(-ENOSYS, gatun_verbs_open_library("libm.so.6", reason, sizeof reason));
  EXPECT(std::string(reason).find("ibv_reg_mr") != std::string::npos);
  char small[4] = "xyz";
  EXPECT_EQ(-ENOSYS, gatun_verbs_open_library("libm.so.6", small, sizeof small));
  EXPECT_EQ(3, std::strlen(small));
  EXPECT_EQ(-EINVAL, gatun_verbs_open_library(nullptr, reason, sizeof reason));
  EXPECT_EQ(-ENOENT, gatun_verbs_open_library("libnone.so", nullptr, 0));
  EXPECT_EQ(GATUN_VERBS_HAS_GID_TYPES | GATUN_VERBS_HAS_DMABUF, gatun_verbs_features(made.now));
  EXPECT_EQ(0, gatun_verbs_features(made.old));
}

void devices_and_ports() {
  const StandIns& made = stand_ins();
  gatun_verbs_name names[2];
  EXPECT_EQ(2, gatun_verbs_devices(made.now, names, 2));
  EXPECT(std::string(names[1].text) == "mlx5_1");
  EXPECT_EQ(2, gatun_verbs_devices(made.now, nullptr, 0));
  gatun_verbs_device device;
  EXPECT_EQ(0, gatun_verbs_query_device(made.now, "mlx5_0", &device));
  EXPECT_EQ(0x0c42a10300f0b1e2, device.guid);
  EXPECT_EQ(1048576, device.region_bytes_max);
  EXPECT_EQ(2, device.port_count);
  EXPECT_EQ(-EACCES, gatun_verbs_query_device(made.now, "mlx5_1", &device));
  EXPECT_EQ(GATUN_VERBS_STEP_OPEN, device.failed_step);
  EXPECT_EQ(-ENODEV, gatun_verbs_query_device(made.now, "mlx5_9", &device));
  gatun_verbs_port port;
  EXPECT_EQ(0, gatun_verbs_query_port(made.now, "mlx5_0", 1, &port));
  EXPECT_EQ(GATUN_VERBS_PORT_ACTIVE, port.state);
  EXPECT_EQ(1024, port.mtu_bytes);
  EXPECT_EQ(GATUN_VERBS_LINK_ETHERNET, port.link_layer);
  EXPECT_EQ(-EINVAL, gatun_verbs_query_port(made.now, "mlx5_0", 3, &port));
  EXPECT_EQ(0, made.live());
}

void gids_of_new_and_old() {
  const StandIns& made = stand_ins();
  gatun_verbs_gid gids[2];
  EXPECT_EQ(2, gatun_verbs_query_gids(made.now, "mlx5_0", 1, gids, 1));
  EXPECT_EQ(1, gids[0].index);
  EXPECT_EQ(GATUN_VERBS_GID_ROCE_V1, gids[0].type);
  EXPECT_EQ(2, gatun_verbs_query_gids(made.old, "mlx5_0", 1, gids, 2));
  EXPECT_EQ(3, gids[1].index);
  EXPECT_EQ(GATUN_VERBS_GID_UNKNOWN, gids[1].type);
  EXPECT_EQ(0, gatun_verbs_query_gids(made.now, "mlx5_0", 2, gids, 2));
}

void registrations_are_tried() {
  const StandIns& made = stand_ins();
  int32_t step = -1;
  EXPECT_EQ(0, gatun_verbs_try_register(made.now, "mlx5_0", 4096, &step));
  EXPECT_EQ(0, step);
  EXPECT_EQ(-ENOMEM, gatun_verbs_try_register(made.now, "mlx5_0", 65537, &step));
  EXPECT_EQ(GATUN_VERBS_STEP_REGISTER, step);
  EXPECT_EQ(-ENOMEM, gatun_verbs_try_register(made.now, "mlx5_0", uint64_t{1} << 62, &step));
  EXPECT_EQ(GATUN_VERBS_STEP_MEMORY, step);
  EXPECT_EQ(-EACCES, gatun_verbs_try_register(made.now, "mlx5_1", 4096, &step));
  EXPECT_EQ(GATUN_VERBS_STEP_OPEN, step);
  made.devices("libgatun_verbs_standin.so", "device name=a domain=12\ndevice name=b query=5\n");
  EXPECT_EQ(-ENOMEM, gatun_verbs_try_register(made.now, "a", 4096, &step));
  EXPECT_EQ(GATUN_VERBS_STEP_DOMAIN, step);
  gatun_verbs_device device;
  EXPECT_EQ(-EIO, gatun_verbs_query_device(made.now, "b", &device));
  EXPECT_EQ(GATUN_VERBS_STEP_QUERY, device.failed_step);
  EXPECT_EQ(0, made.live());
}

void no_rdma_and_bad_arguments() {
  const StandIns& made = stand_ins();
  const std::string long_name(GATUN_VERBS_NAME_BYTES, 'x');
  gatun_verbs_name name;
  gatun_verbs_device device;
  gatun_verbs_gid gid;
  for (const int32_t library : {-1, 0, GATUN_VERBS_LIBRARIES_MAX + 1, INT32_MAX}) {
    EXPECT_EQ(-EINVAL, gatun_verbs_features(library));
    EXPECT_EQ(-EINVAL, gatun_verbs_devices(library, &name, 1));
    EXPECT_EQ(-EINVAL, gatun_verbs_query_device(library, "mlx5_0", &device));
  }
  EXPECT_EQ(-EINVAL, gatun_verbs_devices(made.now, nullptr, 1));
  EXPECT_EQ(-EINVAL, gatun_verbs_devices(made.now, &name, -1));
  EXPECT_EQ(-EINVAL, gatun_verbs_query_device(made.now, long_name.c_str(), &device));
  EXPECT_EQ(-EINVAL, gatun_verbs_query_device(made.now, nullptr, &device));
  EXPECT_EQ(-EINVAL, gatun_verbs_query_port(made.now, "mlx5_0", 1, nullptr));
  for (const int32_t port : {-1, 0, 256, INT32_MAX}) {
    EXPECT_EQ(-EINVAL, gatun_verbs_query_gids(made.now, "mlx5_0", port, &gid, 1));
  }
  EXPECT_EQ(-EINVAL, gatun_verbs_try_register(made.now, "mlx5_0", 0, nullptr));
  EXPECT_EQ(-EINVAL, gatun_verbs_try_register(made.now, "mlx5_0", UINT64_MAX, nullptr));
  made.devices("libgatun_verbs_standin.so", "list error=38\n");
  EXPECT_EQ(-ENOSYS, gatun_verbs_devices(made.now, &name, 1));
  EXPECT_EQ(-ENOSYS, gatun_verbs_query_device(made.now, "mlx5_0", &device));
  made.devices("libgatun_verbs_standin.so", "");
  EXPECT_EQ(0, gatun_verbs_devices(made.now, &name, 1));
  EXPECT_EQ(0, made.live());
}

void many_threads_ask() {
  const StandIns& made = stand_ins();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&made] {
      char reason[64];
      for (int round = 0; round < 50; round++) {
        EXPECT_EQ(made.now,
                  gatun_verbs_open_library(made.copy("libgatun_verbs_standin.so").c_str(), reason, sizeof reason));
        EXPECT_EQ(0, gatun_verbs_try_register(made.now, "mlx5_0", 4096, nullptr));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, made.live());
}

}  // namespace

const std::vector<Check>& verbs_checks() {
  static const std::vector<Check> checks = {
      {"a libibverbs is opened once", libraries_open_once},
      {"RDMA devices and ports", devices_and_ports},
      {"GIDs, with types and without", gids_of_new_and_old},
      {"registrations are tried", registrations_are_tried},
      {"no RDMA, and arguments that make no sense", no_rdma_and_bad_arguments},
      {"many threads ask for devices", many_threads_ask},
  };
  return checks;
}
