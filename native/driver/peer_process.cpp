// SPDX-License-Identifier: Apache-2.0
#include "peer_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "check.h"
#include "fixture.h"

namespace {

int nursery = -1;

bool write_all(int descriptor, const void* bytes, size_t count) {
  return ::send(descriptor, bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

bool read_all(int descriptor, void* bytes, size_t count) {
  return recv(descriptor, bytes, count, MSG_WAITALL) == static_cast<ssize_t>(count);
}

bool write_text(int descriptor, const std::string& text) {
  const uint64_t size = text.size();
  return write_all(descriptor, &size, sizeof size) && (size == 0 || write_all(descriptor, text.data(), size));
}

std::string read_text(int descriptor) {
  uint64_t size = 0;
  if (!read_all(descriptor, &size, sizeof size)) return {};
  std::string text(size, '\0');
  return size == 0 || read_all(descriptor, text.data(), size) ? text : std::string();
}

std::string drained(transfer_engine_t engine) {
  std::string joined;
  int size = 0;
  notify_msg_t* const messages = getNotifsFromEngine(engine, &size);
  for (int i = 0; i < size; i++) joined += (i == 0 ? "" : ",") + std::string(messages[i].msg);
  freeNotifsMsgBuf(messages, size);
  return joined;
}

bool all_stopped(pid_t process) {
  std::error_code gone;
  const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    std::ifstream stat(task.path() / "stat");
    std::string text;
    std::getline(stat, text);
    const size_t name_end = text.rfind(')');
    if (name_end != std::string::npos && text.compare(name_end, 3, ") T") != 0) return false;
  }
  return !gone;
}

// An engine takes the name after that of the one before it, and begins again after as many as there are.
std::unique_ptr<TestEngine> named(const std::string& wanted) {
  constexpr int kNames = 2000;
  auto engine = std::make_unique<TestEngine>();
  for (int i = 0; i < kNames && !wanted.empty() && engine->name() != wanted; i++)
    engine = std::make_unique<TestEngine>();
  return engine;
}

void live(int channel) {
  std::vector<std::byte> memory(PeerProcess::kBytes);
  fill_page(memory.data(), "peer", memory.size(), 7);
  const auto opened = named(read_text(channel));
  const TestEngine& engine = *opened;
  registerLocalMemory(engine, memory.data(), memory.size(), "*", 1);
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  write_text(channel, engine.name());
  write_all(channel, &address, sizeof address);
  char command;
  while (read_all(channel, &command, 1)) {
    if (command == 'n') write_text(channel, drained(engine));
    if (command == 'u') {
      const int code = unregisterLocalMemory(engine, memory.data());
      write_all(channel, &code, sizeof code);
    }
  }
}

// Takes one end of a channel, forks, and answers with the process id. Single-threaded for ever.
[[noreturn]] void breed(int requests) {
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    char byte;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(requests, &message, 0) <= 0) _exit(0);
    int channel = -1;
    std::memcpy(&channel, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof channel);
    const pid_t child = fork();
    if (child == 0) {
      close(requests);
      alarm(300);
      live(channel);
      _exit(0);
    }
    close(channel);
    write_all(requests, &child, sizeof child);
  }
}

}  // namespace

void PeerProcess::prepare() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  if (fork() == 0) {
    close(ends[0]);
    breed(ends[1]);
  }
  close(ends[1]);
  nursery = ends[0];
}

PeerProcess::PeerProcess(const std::string& wanted_name) {
  int ends[2];
  EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
  EXPECT_EQ(1, sendmsg(nursery, &message, MSG_NOSIGNAL));
  close(ends[1]);
  channel_ = ends[0];
  EXPECT(read_all(nursery, &process_, sizeof process_));
  EXPECT(write_text(channel_, wanted_name));
  name_ = read_text(channel_);
  EXPECT(read_all(channel_, &address_, sizeof address_));
  EXPECT(!name_.empty());
}

PeerProcess::~PeerProcess() {
  if (process_ > 0) kill(process_, SIGCONT);
  close(channel_);  // it ends by itself
}

void PeerProcess::send(int signal) {
  EXPECT_EQ(0, kill(process_, signal));
  // Each thread stops when it next looks.
  if (signal == SIGSTOP) eventually("the peer has stopped", [&] { return all_stopped(process_); });
  if (signal == SIGKILL) {
    eventually("the peer is dead", [&] { return kill(process_, 0) != 0; });
    process_ = -1;  // another may get the number
  }
}

std::string PeerProcess::notices() {
  EXPECT(write_all(channel_, "n", 1));
  return read_text(channel_);
}

bool PeerProcess::unregister() {
  int code = -1;
  EXPECT(write_all(channel_, "u", 1) && read_all(channel_, &code, sizeof code));
  return code == 0;
}
