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

// Returns the budget session_bytes_max, for data that is kept for a session beside its buffers.
std::shared_ptr<ByteBudget> KeptBudget(int64_t max, std::shared_ptr<MemoryShare> share = nullptr);

// Keeps the source lines that the client numbers, and makes errors about handles. Not thread-safe.
class SessionErrors {
 public:
  SessionErrors(const Limits& limits, std::shared_ptr<ByteBudget> kept)
      : limits_(limits), kept_(std::move(kept)) {}

  // Defines a line of the program. Ids count up from 1; any other id is a violation. Sets `refused` when the
  // line is not kept because there are too many. `name` is the program's name of the tensor that the line is
  // about.
  Violation DefineOrigin(uint32_t id, Origin origin, absl::Status& refused, std::string name = "");
  // Returns an unknown line for an undefined id.
  Origin OriginOf(uint32_t id) const;
  std::string NameOf(uint32_t id) const;

  // Returns the failure of a command as the root cause that its results and its answer hold: "WHAT failed:
  // ..." with the command and its line. An error that already has a root cause keeps it.
  ErrorDetails Root(std::string_view what, const absl::Status& status, const CommandRef& command) const;
  // Returns a copy of the error, which is charged to the session as long as it exists. Drops its texts and
  // lines if the budget has no room for them.
  std::shared_ptr<const ErrorDetails> Keep(ErrorDetails error) const;
  // Like Keep, but always drops the texts and lines.
  std::shared_ptr<const ErrorDetails> KeepShort(const ErrorDetails& error) const;
  // Returns the error for a handle that is not live.
  absl::Status Dead(const BufferTable& table, Handle handle) const;
  // Returns the error for a buffer that the execute `by` has consumed or will consume.
  absl::Status Consumed(const Buffer& buffer, const CommandRef& by) const;
  // Returns the error for a read of a placeholder's value; `what` begins the sentence.
  absl::Status PlaceholderRead(const Buffer& buffer, std::string_view what) const;
  // Adds the session's largest buffers to an error of kind no_memory. Returns other errors unchanged.
  absl::Status WithLargestBuffers(absl::Status status, const BufferTable& table) const;

 private:
  std::string Line(uint32_t origin) const { return ToString(OriginOf(origin)); }

  const Limits& limits_;
  const std::shared_ptr<ByteBudget> kept_;
  std::vector<Origin> origins_;
  absl::flat_hash_map<uint32_t, std::string> names_;  // The names by id, of lines that have one.
  uint32_t last_origin_ = 0;
};

// Returns the text of a shape for a message, shortened: a client may send shapes of any length.
std::string ShapeText(const hlo::Shape& shape);

}  // namespace hlod::device
