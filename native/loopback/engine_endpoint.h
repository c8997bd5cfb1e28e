// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine_regions.h"
#include "engine_server.h"

namespace gatun::loopback {

struct Notice {
  std::string name;
  std::string text;
};

// What other engines see of one: its name, its memory, its inbox. Engines of the process come here directly, those of
// other processes of the user through the server, where the system allows one.
class Endpoint {
 public:
  // Takes a name of the form host:port that no live engine of the machine has.
  static std::shared_ptr<Endpoint> open(std::string_view host);
  // Null when no live engine of the process has that name.
  static std::shared_ptr<Endpoint> find(std::string_view name);

  explicit Endpoint(std::string name);

  // Gone for the others; waits for copies that touch its memory.
  void close();

  const std::string& name() const { return name_; }
  // Names are used again, instances are not.
  uint64_t instance() const { return instance_; }
  RegionTable& regions() { return regions_; }
  // False once it is closed.
  bool deliver(Notice notice);
  std::vector<Notice> drain();

 private:
  const std::string name_;
  const uint64_t instance_;
  std::unique_ptr<EngineServer> server_;
  RegionTable regions_;
  std::mutex inbox_mutex_;
  std::vector<Notice> inbox_;
  bool closed_ = false;
};

}  // namespace gatun::loopback
