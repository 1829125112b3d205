// The errors of a session, which name lines of its program.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/errors/error.h"
#include "common/base/limits.h"
#include "server/device/buffers/buffer_table.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/violation.h"

namespace hlod::device {

// The budget session_bytes_max of what is kept for a session beside its buffers.
std::shared_ptr<ByteBudget> KeptBudget(int64_t max, std::shared_ptr<MemoryShare> share = nullptr);

// Keeps the source lines that the client numbers, and puts errors about handles into words. Not thread-safe.
class SessionErrors {
 public:
  SessionErrors(const Limits& limits, std::shared_ptr<ByteBudget> kept)
      : limits_(limits), kept_(std::move(kept)) {}

  // A line of the program. Ids count up from 1: another one is a violation. `refused` says why the line is
  // not kept: there are too many.
  // `name`: what the program calls the tensor that it is about there.
  Violation DefineOrigin(uint32_t id, Origin origin, absl::Status& refused, std::string name = "");
  // An unknown line for ids that are not defined.
  Origin OriginOf(uint32_t id) const;
  std::string NameOf(uint32_t id) const;

  // The failure of a command as the root cause that its results and its answer hold: "WHAT failed: ..." with
  // the command and its line. An error that has a root cause already keeps it.
  ErrorDetails Root(std::string_view what, const absl::Status& status, const CommandRef& command) const;
  // The error to be kept for as long as it is held, and charged; without its words and lines when there is no
  // room for them.
  std::shared_ptr<const ErrorDetails> Keep(ErrorDetails error) const;
  // The same without its words and lines in any case.
  std::shared_ptr<const ErrorDetails> KeepShort(const ErrorDetails& error) const;
  // Why a handle does not name anything.
  absl::Status Dead(const BufferTable& table, Handle handle) const;
  // A buffer that the execute `by` has consumed, or will.
  absl::Status Consumed(const Buffer& buffer, const CommandRef& by) const;
  // A read of a placeholder's value; `what` begins the sentence.
  absl::Status PlaceholderRead(const Buffer& buffer, std::string_view what) const;
  // Says of an error of kind no_memory what the session's largest buffers are.
  absl::Status WithLargestBuffers(absl::Status status, const BufferTable& table) const;

 private:
  std::string Line(uint32_t origin) const { return ToString(OriginOf(origin)); }

  const Limits& limits_;
  const std::shared_ptr<ByteBudget> kept_;
  std::vector<Origin> origins_;
  absl::flat_hash_map<uint32_t, std::string> names_;  // By id, of the lines that have one.
  uint32_t last_origin_ = 0;
};

// A shape in a message: its full text is as long as a client likes.
std::string ShapeText(const hlo::Shape& shape);

}  // namespace hlod::device
