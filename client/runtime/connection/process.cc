// Processes are compared by id. The id is kept in a page that the kernel clears in a forked child, so that
// asking for it, as every command does, is not a system call.
#include "client/runtime/connection/process.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "absl/strings/str_format.h"
#include "common/base/errors/error.h"

namespace hlod::runtime {
namespace {

// Maps such a page. Null where the kernel does not have them (before 4.14).
std::atomic<pid_t>* MapClearedInChild() {
  constexpr size_t kBytes = 4096;
  void* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, kBytes, MADV_WIPEONFORK) == 0) return new (page) std::atomic<pid_t>(0);
  munmap(page, kBytes);
  return nullptr;
}

std::atomic<pid_t>* const cleared_in_child = MapClearedInChild();

pid_t ThisProcess() {
  if (cleared_in_child == nullptr) return getpid();
  pid_t id = cleared_in_child->load(std::memory_order_relaxed);
  if (id == 0) {
    id = getpid();
    cleared_in_child->store(id, std::memory_order_relaxed);
  }
  return id;
}

std::atomic<pid_t> grpc_process = 0;  // The process that uses gRPC; 0 before its first use.

absl::Status Forked(pid_t owner) {
  // Not UNAVAILABLE, the usual code of this kind, because trying again does not help.
  return ToStatus(
      {.code = absl::StatusCode::kFailedPrecondition,
       .kind = ErrorKind::kLostSession,
       .text = absl::StrFormat(
           "Process %d was forked from process %d, which had connected to a daemon: that connection is not "
           "this process's, and none can be made here. Connect after forking only, or start a new program "
           "(exec; in Python, multiprocessing's start method \"spawn\"). Large computations on host tensors "
           "connect to a daemon of their own, too, unless HLOD_HOST_DAEMON=0 is set.",
           ThisProcess(), owner)});
}

}  // namespace

OwnerProcess::OwnerProcess() : pid_(ThisProcess()) {}
bool OwnerProcess::IsThisOne() const { return ThisProcess() == pid_; }
absl::Status OwnerProcess::Check() const { return IsThisOne() ? absl::OkStatus() : Forked(pid_); }

absl::Status CheckGrpc() {
  const pid_t owner = grpc_process.load(std::memory_order_acquire);
  return owner == 0 || owner == ThisProcess() ? absl::OkStatus() : Forked(owner);
}

absl::Status ClaimGrpc() {
  pid_t none = 0;
  grpc_process.compare_exchange_strong(none, ThisProcess(), std::memory_order_acq_rel);
  return CheckGrpc();
}

}  // namespace hlod::runtime
