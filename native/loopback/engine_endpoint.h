// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine_regions.h"

namespace gatun::loopback {

struct Notice {
  std::string name;
  std::string text;
};

// What other engines of the process see of one: its name, its memory, its inbox. Across processes engines do not meet:
// a name of another process is unknown.
class Endpoint {
 public:
  // Takes a name of the form host:port that no live engine of the process has.
  static std::shared_ptr<Endpoint> open(std::string_view host);
  // Null when no live engine has that name.
  static std::shared_ptr<Endpoint> find(std::string_view name);

  explicit Endpoint(std::string name) : name_(std::move(name)) {}

  // Gone for the others; waits for copies that touch its memory.
  void close();

  const std::string& name() const { return name_; }
  RegionTable& regions() { return regions_; }
  // False once it is closed.
  bool deliver(Notice notice);
  std::vector<Notice> drain();

 private:
  const std::string name_;
  RegionTable regions_;
  std::mutex inbox_mutex_;
  std::vector<Notice> inbox_;
  bool closed_ = false;
};

}  // namespace gatun::loopback
