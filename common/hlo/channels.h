// Values that cross the edge of a program while it runs: infeed, outfeed, send and recv.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/collective.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// A queue of values: each is taken once, in the order in which they were put there.
struct Channel {
  enum class Kind : uint8_t {
    kInfeed,    // The host's values for infeed ...
    kOutfeed,   // ... and a program's for the host.
    kToHost,    // Of a send to the host ...
    kFromHost,  // ... and of a recv from it, by `id`.
    kPeer,      // Of a send for a recv of the same run, by `id`, from one member to another.
  };
  Kind kind = Kind::kInfeed;
  int64_t id = 0;        // channel_id; of infeed and outfeed 0.
  int from = 0, to = 0;  // Of kPeer.
  // "infeed", "channel 3 to the host"
  std::string ToString() const;
  friend auto operator<=>(const Channel&, const Channel&) = default;
};

// Where the channels of a run end. Thread-safe.
class Channels {
 public:
  // Asked while a call waits, each few milliseconds: an error is why it has to stop.
  using Stop = absl::FunctionRef<absl::Status()>;
  virtual ~Channels() = default;
  // Copies a value, dense row-major arrays of `shapes`, to the end of the channel.
  virtual absl::Status Put(const Channel& channel, absl::Span<const Shape> shapes,
                           absl::Span<const std::byte* const> arrays, Stop stop) = 0;
  // Waits for the channel's first value, of `shapes`, and copies it to `arrays`.
  virtual absl::Status Take(const Channel& channel, absl::Span<const Shape> shapes,
                            absl::Span<std::byte* const> arrays, Stop stop) = 0;
};

// INVALID_ARGUMENT unless a value that was given fits the one that is taken.
absl::Status CheckTaken(const Channel& channel, absl::Span<const Shape> given, absl::Span<const Shape> taken);

// What an instruction with a channel does when it runs.
struct Transfer {
  enum class Action : uint8_t { kNothing, kPut, kTake };
  Action action = Action::kNothing;
  Channel channel;            // But for its members.
  std::vector<Shape> shapes;  // The value's arrays: the first operands, or the first of the results' leaves.
  std::vector<std::pair<int64_t, int64_t>> pairs;  // Of kPeer, source and target; empty: each to itself.
  // The channel of one member; nothing when it takes no part: what it would take is zeros.
  std::optional<Channel> Of(int member) const;
};

// Whether it is one of those: infeed, outfeed, send, recv, and their ends.
bool IsTransfer(Opcode opcode);
bool HasTransfers(const Module& module);
// INVALID_ARGUMENT when the pairs of a send or recv (the attribute _xla_send_recv_source_target_pairs) cannot
// be read, or name others than the members. REQUIRES: IsTransfer.
absl::StatusOr<Transfer> ReadTransfer(Instruction instruction, const Members& members);

}  // namespace hlod::hlo
