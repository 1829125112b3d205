// The client's half of the shared arena: which ranges are in use. The daemon copies out of it and into it; it
// never waits here.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "client/runtime/process.h"
#include "client/runtime/session.h"
#include "common/rpc/shared_memory.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::internal {

// A range of the arena. Offsets are multiples of Arena::kGranule.
struct ArenaRange {
  int64_t offset = 0, length = 0;
};

// The free ranges of the arena. In a forked child nothing is taken, and Give and GiveAfter do nothing.
class Arena {
 public:
  static constexpr int64_t kGranule = 256 << 10;

  // Fetches the descriptor and maps it; null when that does not work (another host, another user): bulk
  // streams do it then.
  static std::unique_ptr<Arena> Attach(const v1::Arena& offer, const std::string& secret);
  explicit Arena(rpc::SharedMemory memory);

  // A free range, the lowest that fits: pages touched before are warm. Nothing when there is none.
  std::optional<ArenaRange> TryTake(int64_t length);
  // The same, waiting for pieces that are under way to complete. Nothing when none is under way, so that none
  // would make room; the session's error when it is lost.
  absl::StatusOr<std::optional<ArenaRange>> Take(Session& session, int64_t length);
  void Give(ArenaRange range);
  // Gives the range back when all commands are done: the daemon copies the pieces of a range in any order.
  void GiveAfter(ArenaRange range, std::vector<Command> commands);

  absl::Span<std::byte> at(ArenaRange range) const {
    return memory_.bytes().subspan(static_cast<size_t>(range.offset), static_cast<size_t>(range.length));
  }
  int64_t size() const { return static_cast<int64_t>(memory_.bytes().size()); }

 private:
  void Collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const OwnerProcess owner_;
  const rpc::SharedMemory memory_;
  absl::Mutex mu_;
  std::vector<bool> used_ ABSL_GUARDED_BY(mu_);  // By granule.
  struct UnderWay {
    ArenaRange range;
    std::vector<Command> commands;
  };
  std::deque<UnderWay> under_way_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::internal
