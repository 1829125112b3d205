// The client's side of the shared arena: it decides which ranges are in use. The daemon copies out of them
// and into them, and never waits for the arena.
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
#include "client/runtime/connection/process.h"
#include "client/runtime/session/session.h"
#include "common/rpc/shared_memory.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

// A range of the arena. Offsets are multiples of Arena::kGranule.
struct ArenaRange {
  int64_t offset = 0, length = 0;
};

// The arena and its free ranges. In a forked child no range can be taken, and Give and GiveAfter do nothing.
class Arena {
 public:
  static constexpr int64_t kGranule = 256 << 10;

  // Fetches the descriptor and maps it. Null if that is not possible (another host, another user); then bytes
  // are sent on bulk streams.
  static std::unique_ptr<Arena> Attach(const v1::Arena& offer, const std::string& secret);
  explicit Arena(rpc::SharedMemory memory);

  // Takes the lowest free range that fits, because pages touched before are warm. nullopt if none fits.
  std::optional<ArenaRange> TryTake(int64_t length);
  // Like TryTake, but waits for pieces in flight to complete. nullopt if none in flight would make room; the
  // session's error if it is lost.
  absl::StatusOr<std::optional<ArenaRange>> Take(Session& session, int64_t length);
  void Give(ArenaRange range);
  // Frees the range when all commands are done, because the daemon copies the pieces of a range in any order.
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
  std::vector<bool> used_ ABSL_GUARDED_BY(mu_);  // One per granule.
  struct UnderWay {
    ArenaRange range;
    std::vector<Command> commands;
  };
  std::deque<UnderWay> under_way_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::runtime
