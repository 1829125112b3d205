// One queue per channel, under one lock.
#include "common/evaluator/local_channels.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors/status.h"

namespace hlod {

using hlo::Channel;
using hlo::Shape;

absl::Status LocalChannels::Put(const Channel& channel, absl::Span<const Shape> shapes,
                                absl::Span<const std::byte* const> arrays, Stop) {
  Value value;
  for (size_t i = 0; i < shapes.size(); ++i) {
    hlo::Literal& literal = value.emplace_back(shapes[i]);
    std::copy_n(arrays[i], literal.bytes().size(), literal.bytes().data());
  }
  Give(channel, std::move(value));
  return absl::OkStatus();
}

absl::Status LocalChannels::Take(const Channel& channel, absl::Span<const Shape> shapes,
                                 absl::Span<std::byte* const> arrays, Stop stop) {
  ASSIGN_OR_RETURN(const Value value, Await(channel, stop));
  std::vector<Shape> given;
  for (const hlo::Literal& literal : value) given.push_back(literal.shape());
  RETURN_IF_ERROR(hlo::CheckTaken(channel, given, shapes));
  for (size_t i = 0; i < value.size(); ++i) std::ranges::copy(value[i].bytes(), arrays[i]);
  return absl::OkStatus();
}

void LocalChannels::Give(const Channel& channel, Value value) {
  MutexLock lock(&mu_);
  values_[channel].push_back(std::move(value));
  given_.SignalAll();
}

absl::StatusOr<LocalChannels::Value> LocalChannels::Await(const Channel& channel, Stop stop) {
  const absl::Time deadline = absl::Now() + wait_;
  MutexLock lock(&mu_);
  std::deque<Value>& values = values_[channel];
  while (values.empty()) {
    RETURN_IF_ERROR(stop());
    if (absl::Now() > deadline) {
      return DeadlineExceeded("No value came on %s within %s.", channel.ToString(),
                              FromAbsl(absl::FormatDuration(wait_)));
    }
    given_.WaitFor(&mu_, std::chrono::milliseconds(5));
  }
  Value value = std::move(values.front());
  values.pop_front();
  return value;
}

}  // namespace hlod
