// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

// A process of its own with one engine, whose registered memory of kBytes begins as fill_page("peer", seed 7). It ends
// with this object.
class PeerProcess {
 public:
  static constexpr uint64_t kBytes = 1 << 20;

  // Forks the process that forks the others; to be called while this one has a single thread.
  static void prepare();

  // Its engine's name is the wanted one, which must be free; any if that is empty.
  explicit PeerProcess(const std::string& wanted_name = "");
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  const std::string& name() const { return name_; }
  uint64_t address() const { return address_; }
  // SIGKILL or SIGSTOP or SIGCONT; of the first two it is dead or has stopped when this returns.
  void send(int signal);
  // Messages that have arrived there, joined by commas.
  std::string notices();
  // It takes its memory back.
  bool unregister();

 private:
  int channel_ = -1;
  pid_t process_ = -1;
  std::string name_;
  uint64_t address_ = 0;
};
