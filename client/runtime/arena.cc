// First fit over a bitmap: an arena has a few hundred granules, and a range holds a megabyte, so the search
// costs nothing beside the copy.
#include "client/runtime/arena.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>

#include "common/base/status.h"

namespace hlod::internal {
namespace {

size_t Granules(int64_t bytes) {
  return static_cast<size_t>((bytes + Arena::kGranule - 1) / Arena::kGranule);
}

}  // namespace

std::unique_ptr<Arena> Arena::Attach(const v1::Arena& offer, const std::string& secret) {
  absl::StatusOr<rpc::Descriptor> socket = rpc::ConnectAbstract(offer.socket());
  if (!socket.ok()) return nullptr;
  // Whoever has the name answers at once or is not our daemon.
  const timeval patience = {.tv_sec = 2, .tv_usec = 0};
  setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (send(socket->get(), secret.data(), secret.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(secret.size()))
    return nullptr;
  absl::StatusOr<rpc::Descriptor> memory = rpc::ReceiveDescriptor(socket->get());
  if (!memory.ok()) return nullptr;
  absl::StatusOr<rpc::SharedMemory> mapped =
      rpc::SharedMemory::Map(*std::move(memory), static_cast<int64_t>(offer.bytes()));
  if (!mapped.ok()) return nullptr;
  return std::make_unique<Arena>(*std::move(mapped));
}

Arena::Arena(rpc::SharedMemory memory)
    : memory_(std::move(memory)), used_(static_cast<size_t>(size() / kGranule), false) {}

std::optional<ArenaRange> Arena::TryTake(int64_t length) {
  absl::MutexLock lock(&mu_);
  Collect();
  const size_t wanted = Granules(length);
  size_t run = 0;
  for (size_t i = 0; i < used_.size(); ++i) {
    run = used_[i] ? 0 : run + 1;
    if (run < wanted || wanted == 0) continue;
    const size_t first = i + 1 - wanted;
    std::fill(used_.begin() + static_cast<ptrdiff_t>(first), used_.begin() + static_cast<ptrdiff_t>(i + 1),
              true);
    return ArenaRange{static_cast<int64_t>(first) * kGranule, length};
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<ArenaRange>> Arena::Take(Session& session, int64_t length) {
  for (;;) {
    if (std::optional<ArenaRange> range = TryTake(length)) return range;
    Command oldest;
    {
      absl::MutexLock lock(&mu_);
      if (under_way_.empty()) return std::optional<ArenaRange>();
      oldest = under_way_.front().second;
    }
    // A piece that failed frees its range all the same; only the loss of the session ends the wait with an
    // error.
    if (!session.Wait(*oldest).ok()) RETURN_IF_ERROR(session.status());
  }
}

void Arena::Give(ArenaRange range) {
  absl::MutexLock lock(&mu_);
  const ptrdiff_t first = range.offset / kGranule;
  std::fill_n(used_.begin() + first, Granules(range.length), false);
}

void Arena::GiveAfter(ArenaRange range, Command command) {
  absl::MutexLock lock(&mu_);
  under_way_.emplace_back(range, std::move(command));
}

void Arena::Collect() {
  // Pieces settle in order, but for those of commands that failed: the front is looked at, and what is behind
  // it waits.
  while (!under_way_.empty() && under_way_.front().second->done.load(std::memory_order_acquire)) {
    const ArenaRange range = under_way_.front().first;
    std::fill_n(used_.begin() + range.offset / kGranule, Granules(range.length), false);
    under_way_.pop_front();
  }
}

}  // namespace hlod::internal
