// Channels within this process: between the participants of an evaluation, and to a host that is a thread or
// a test.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/system/mutex.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/literal.h"

namespace hlod {

// Thread-safe.
class LocalChannels final : public hlo::Channels {
 public:
  using Value = std::vector<hlo::Literal>;  // One literal per array leaf.
  // `wait` is the time limit of Take.
  explicit LocalChannels(absl::Duration wait) : wait_(wait) {}

  absl::Status Put(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                   absl::Span<const std::byte* const> arrays, Stop stop) override;
  // Returns DEADLINE_EXCEEDED if no value comes in time.
  absl::Status Take(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                    absl::Span<std::byte* const> arrays, Stop stop) override;

  // The functions of the channels' other end, the host.
  void Give(const hlo::Channel& channel, Value value);
  absl::StatusOr<Value> Await(const hlo::Channel& channel, Stop stop);

 private:
  const absl::Duration wait_;
  Mutex mu_;
  CondVar given_ ABSL_GUARDED_BY(mu_);
  std::map<hlo::Channel, std::deque<Value>> values_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod
