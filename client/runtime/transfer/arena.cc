// First fit over a bitmap: an arena has a few hundred granules of a megabyte, so the search takes much less
// time than the copy.
#include "client/runtime/transfer/arena.h"

#include <algorithm>
#include <iterator>

#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

size_t Granules(int64_t bytes) {
  return static_cast<size_t>((bytes + Arena::kGranule - 1) / Arena::kGranule);
}

bool IsDone(const Command& command) { return command->done.load(std::memory_order_acquire); }

}  // namespace

std::unique_ptr<Arena> Arena::Attach(const v1::Arena& offer, const std::string& secret) {
  absl::StatusOr<rpc::SharedMemory> mapped =
      rpc::FetchSharedMemory(offer.socket(), secret, static_cast<int64_t>(offer.bytes()));
  if (!mapped.ok()) return nullptr;
  return std::make_unique<Arena>(*std::move(mapped));
}

Arena::Arena(rpc::SharedMemory memory)
    : memory_(std::move(memory)), used_(static_cast<size_t>(size() / kGranule), false) {}

std::optional<ArenaRange> Arena::TryTake(int64_t length) {
  if (!owner_.IsThisOne()) return std::nullopt;
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
    RETURN_IF_ERROR(session.owner().Check());
    if (std::optional<ArenaRange> range = TryTake(length)) return range;
    std::vector<Command> awaited;
    {
      absl::MutexLock lock(&mu_);
      if (under_way_.empty()) return std::optional<ArenaRange>();
      // Waits only for commands that are not done: a done one would end the wait at once, although others of
      // its range are not done.
      for (const UnderWay& piece : under_way_) {
        std::copy_if(piece.commands.begin(), piece.commands.end(), std::back_inserter(awaited),
                     [](const Command& command) { return !IsDone(command); });
      }
    }
    // A piece that failed also frees its range; only the loss of the session ends the wait with an error.
    if (!awaited.empty()) RETURN_IF_ERROR(session.WaitAny(awaited));
  }
}

void Arena::Give(ArenaRange range) {
  if (!owner_.IsThisOne()) return;
  absl::MutexLock lock(&mu_);
  const ptrdiff_t first = range.offset / kGranule;
  std::fill_n(used_.begin() + first, Granules(range.length), false);
}

void Arena::GiveAfter(ArenaRange range, std::vector<Command> commands) {
  if (!owner_.IsThisOne()) return;
  absl::MutexLock lock(&mu_);
  under_way_.push_back({range, std::move(commands)});
}

void Arena::Collect() {
  // Ranges are freed in the order in which their commands end: a read may wait for a long execute while an
  // upload after it is done.
  std::erase_if(under_way_, [this](const UnderWay& piece) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!std::all_of(piece.commands.begin(), piece.commands.end(), IsDone)) return false;
    std::fill_n(used_.begin() + piece.range.offset / kGranule, Granules(piece.range.length), false);
    return true;
  });
}

}  // namespace hlod::runtime
