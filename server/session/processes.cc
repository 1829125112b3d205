// pidfds in an epoll set.
#include "server/session/processes.h"

#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace hlod::session {
namespace {

#ifndef SO_PEERPIDFD
constexpr int kPeerPidFd = 77;  // SO_PEERPIDFD, since Linux 6.5.
#else
constexpr int kPeerPidFd = SO_PEERPIDFD;
#endif

constexpr size_t kEndedKept = 1024;

bool IsOver(int pidfd) {
  pollfd entry{pidfd, POLLIN, 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace

rpc::Descriptor OpenPidFd(int socket, int64_t pid) {
  int fd = -1;
  socklen_t size = sizeof(fd);
  if (getsockopt(socket, SOL_SOCKET, kPeerPidFd, &fd, &size) == 0) return rpc::Descriptor(fd);
  // Opened by its number if the kernel cannot return the pidfd of the socket's peer.
  return rpc::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

WatchedProcesses::WatchedProcesses(std::function<void(int64_t pid)> ended)
    : ended_(std::move(ended)), epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  thread_ = std::thread([this] { Watch(); });
  pthread_setname_np(thread_.native_handle(), "processes");
}

WatchedProcesses::~WatchedProcesses() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
  thread_.join();
}

void WatchedProcesses::Add(int socket, const rpc::PeerCredentials& credentials) {
  if (credentials.pid <= 0) return;
  rpc::Descriptor pidfd = OpenPidFd(socket, credentials.pid);
  const bool over = !pidfd.valid() && errno == ESRCH;
  MutexLock lock(&mu_);
  if (over) RememberEnded(credentials.pid);
  if (!pidfd.valid()) return;
  const auto known = processes_.find(credentials.pid);
  if (known != processes_.end() && !IsOver(known->second.pidfd.get())) {
    known->second.unused = false;
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = static_cast<uint64_t>(credentials.pid);
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd.get(), &event) != 0) return;
  processes_[credentials.pid] = {std::move(pidfd), credentials.uid};
  std::erase(ended_lately_, int64_t{credentials.pid});
}

void WatchedProcesses::DropUnused(const absl::flat_hash_set<int64_t>& in_use) {
  MutexLock lock(&mu_);
  absl::erase_if(processes_, [&in_use](std::pair<const int64_t, Process>& entry) {
    const bool unused = !in_use.contains(entry.first);
    // An ended process is kept until Watch reports it.
    return std::exchange(entry.second.unused, unused) && unused && !IsOver(entry.second.pidfd.get());
  });
}

void WatchedProcesses::RememberEnded(int64_t pid) {
  ended_lately_.push_back(pid);
  if (ended_lately_.size() > kEndedKept) ended_lately_.pop_front();
}

std::optional<uint32_t> WatchedProcesses::UserOf(int64_t pid) const {
  MutexLock lock(&mu_);
  const auto found = processes_.find(pid);
  if (found == processes_.end() || IsOver(found->second.pidfd.get())) return std::nullopt;
  return found->second.user;
}

bool WatchedProcesses::HasEnded(int64_t pid) const {
  MutexLock lock(&mu_);
  const auto found = processes_.find(pid);
  if (found != processes_.end()) return IsOver(found->second.pidfd.get());
  return std::find(ended_lately_.begin(), ended_lately_.end(), pid) != ended_lately_.end();
}

void WatchedProcesses::Watch() {
  for (;;) {
    epoll_event event;
    if (epoll_wait(epoll_.get(), &event, 1, -1) <= 0) continue;
    if (event.data.u64 == 0) return;
    const auto pid = static_cast<int64_t>(event.data.u64);
    try {
      {
        MutexLock lock(&mu_);
        const auto found = processes_.find(pid);
        if (found != processes_.end() && IsOver(found->second.pidfd.get())) {
          processes_.erase(found);
          RememberEnded(pid);
        }
      }
      ended_(pid);
    } catch (const std::exception& e) {
      spdlog::error("The sessions of process {} could not be ended: {}", pid, e.what());
    }
  }
}

}  // namespace hlod::session
