// Keeps downloads for bulk streams, lets upload streams wait for their declaration, and ends streams.
#include "server/session/transfers.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "common/rpc/ring.h"

namespace hlod::session {
namespace {

constexpr size_t kBulkStreamsMax = 1024;  // The limit per session.

absl::Status TooManyBulkStreams() {
  return MakeError(
      ErrorKind::kLimit,
      absl::StrFormat("This session has %d bulk streams open; more are too many.", kBulkStreamsMax));
}

}  // namespace

// -----------------------------------------------------------------------------------------------------------
// downloads

absl::Status SessionTransfers::KeepDownload(uint64_t command, device::ReadyBytes bytes,
                                            const device::RowKey& row, int64_t calls) {
  RETURN_IF_ERROR(budgets_.downloads.Reserve(bytes.bytes, "A download"));
  MutexLock lock(&mu_);
  downloads_[command] = std::make_shared<KeptDownload>(std::move(bytes), row, calls);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<KeptDownload>> SessionTransfers::FindDownload(uint64_t command) const {
  MutexLock lock(&mu_);
  const auto found = downloads_.find(command);
  if (found == downloads_.end())
    return NotFound("No bytes of a download with the command id %d are kept in this session.", command);
  return found->second;
}

void SessionTransfers::CountDownload(KeptDownload& download) {
  if (download.counted.exchange(true)) return;
  session_device_.ledger().Record(download.row, download.bytes.bytes, download.calls);
}

std::shared_ptr<KeptDownload> SessionTransfers::Take(Downloads::iterator download) {
  std::shared_ptr<KeptDownload> taken = std::move(download->second);
  downloads_.erase(download);
  budgets_.downloads.Release(taken->bytes.bytes);
  return taken;
}

void SessionTransfers::AcknowledgeThrough(uint64_t through) {
  std::vector<std::shared_ptr<KeptDownload>> unpinned;  // Destroyed after the lock is released.
  MutexLock lock(&mu_);
  while (!downloads_.empty() && downloads_.begin()->first <= through)
    unpinned.push_back(Take(downloads_.begin()));
}

void SessionTransfers::Acknowledge(uint64_t command) {
  std::shared_ptr<KeptDownload> unpinned;  // Destroyed after the lock is released.
  MutexLock lock(&mu_);
  if (const auto found = downloads_.find(command); found != downloads_.end()) unpinned = Take(found);
}

// -----------------------------------------------------------------------------------------------------------
// bulk streams

absl::Status SessionTransfers::AddBulkStream(const std::shared_ptr<BulkStream>& stream) {
  MutexLock lock(&mu_);
  if (ended_) return Cancelled("The session ended.");
  std::erase_if(streams_, [](const std::weak_ptr<BulkStream>& bulk) { return bulk.expired(); });
  if (streams_.size() >= kBulkStreamsMax) return TooManyBulkStreams();
  streams_.push_back(stream);
  return absl::OkStatus();
}

absl::Time SessionTransfers::Deadline() const {
  return session_device_.devices().clock().Now() + absl::Microseconds(limits_.upload_wait_us);
}

void SessionTransfers::AwaitUpload(uint64_t command, std::function<void(const absl::Status&)> declared) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    if (ended_) {
      status = Cancelled("The session ended.");
    } else if (command > handled_through_) {
      if (const auto found = waiting_.find(command); found != waiting_.end()) {
        found->second.deadline = Deadline();
        declared.swap(found->second.declared);
        status = Aborted("Another stream waits for the declaration of command %d.", command);
      } else if (waiting_.size() >= kBulkStreamsMax) {
        status = TooManyBulkStreams();
      } else {
        waiting_.emplace(command, Waiter{std::move(declared), Deadline()});
        return;
      }
    }
  }
  if (status.ok() && !session_device_.uploads().ExpectsTransfer(command)) {
    status = NotFound("Command %d is not an upload that waits for a bulk stream.", command);
  }
  declared(status);
}

void SessionTransfers::OnHandled(uint64_t command) {
  std::map<uint64_t, Waiter>::node_type waiter;
  {
    MutexLock lock(&mu_);
    handled_through_ = command;
    if (waiting_.empty()) return;
    waiter = waiting_.extract(command);
  }
  if (!waiter.empty()) AwaitUpload(command, std::move(waiter.mapped().declared));
}

void SessionTransfers::OnResume() {
  MutexLock lock(&mu_);
  for (auto& [command, waiter] : waiting_) waiter.deadline = Deadline();
}

void SessionTransfers::Tick(absl::Time now) {
  std::vector<std::pair<uint64_t, Waiter>> late;
  {
    MutexLock lock(&mu_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (it->second.deadline <= now) {
        late.emplace_back(it->first, std::move(it->second));
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (auto& [command, waiter] : late) {
    waiter.declared(
        MakeError(ErrorKind::kPending,
                  absl::StrFormat("The upload of command %d was not declared within upload_wait_us (%d).",
                                  command, limits_.upload_wait_us)));
  }
}

bool SessionTransfers::busy() const {
  MutexLock lock(&mu_);
  return std::any_of(downloads_.begin(), downloads_.end(),
                     [](const auto& kept) { return !kept.second->counted; }) ||
         std::any_of(streams_.begin(), streams_.end(), [](const auto& bulk) { return !bulk.expired(); });
}

void SessionTransfers::End() {
  Downloads downloads;
  std::map<uint64_t, Waiter> waiting;
  std::vector<std::weak_ptr<BulkStream>> streams;
  {
    MutexLock lock(&mu_);
    ended_ = true;
    downloads.swap(downloads_);
    waiting.swap(waiting_);
    streams.swap(streams_);
    ring_.reset();
  }
  downloads.clear();
  for (const std::weak_ptr<BulkStream>& stream : streams) {
    if (const std::shared_ptr<BulkStream> open = stream.lock(); open != nullptr) open->Stop();
  }
  for (auto& [command, waiter] : waiting) waiter.declared(Cancelled("The session ended."));
}

// -----------------------------------------------------------------------------------------------------------
// the arena

absl::StatusOr<absl::Span<std::byte>> SessionTransfers::MapArena(int* fd) {
  MutexLock lock(&mu_);
  if (arena_.fd() < 0) {
    ASSIGN_OR_RETURN(
        device::MemoryCharge charge,
        device::MemoryCharge::Take(session_device_.share(), limits_.arena_bytes, "A shared arena"));
    ASSIGN_OR_RETURN(arena_, rpc::SharedMemory::Create(limits_.arena_bytes));
    arena_charge_ = std::move(charge);
  }
  *fd = arena_.fd();
  return arena_.bytes();
}

absl::StatusOr<absl::Span<std::byte>> SessionTransfers::arena() const {
  MutexLock lock(&mu_);
  if (arena_.fd() < 0) return FailedPrecondition("This session has fetched no shared arena.");
  return arena_.bytes();
}

absl::StatusOr<rpc::Descriptor> SessionTransfers::MapRing() {
  // The thread that reads it takes about this much besides, and a message of each direction.
  constexpr int64_t kThreadBytes = 64 << 10;
  constexpr int64_t kBytes = rpc::RingPair::kBytes + kThreadBytes + 2 * rpc::RingPair::kMessageBytes;
  MutexLock lock(&mu_);
  if (ended_) return Cancelled("The session ended.");
  ring_.reset();
  auto ring = std::make_unique<RingMemory>();
  ASSIGN_OR_RETURN(ring->charge, device::MemoryCharge::Take(session_device_.share(), kBytes, "A ring"));
  ASSIGN_OR_RETURN(ring->memory, rpc::SharedMemory::Create(rpc::RingPair::kBytes));
  ring_ = std::move(ring);
  return ring_->memory.TakeDescriptor();
}

std::unique_ptr<RingMemory> SessionTransfers::TakeRing() {
  MutexLock lock(&mu_);
  return std::move(ring_);
}

}  // namespace hlod::session
