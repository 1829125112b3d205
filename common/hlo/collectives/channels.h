// Values that enter or leave a program while it runs: infeed, outfeed, send and recv.
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
#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// A queue of values: each is taken once, in the order in which they were put.
struct Channel {
  enum class Kind : uint8_t {
    kInfeed,    // Values from the host for infeed.
    kOutfeed,   // Values from outfeed for the host.
    kToHost,    // Values of a send to the host, by `id`.
    kFromHost,  // Values of a recv from the host, by `id`.
    kPeer,      // Values of a send to a recv of the same run, by `id`, between two participants.
  };
  Kind kind = Kind::kInfeed;
  int64_t id = 0;        // channel_id; 0 for infeed and outfeed.
  int from = 0, to = 0;  // The participants; for kPeer only.
  // Returns "infeed", "channel 3 to the host", ...
  std::string ToString() const;
  friend auto operator<=>(const Channel&, const Channel&) = default;
};

// The other ends of a run's channels. Thread-safe.
class Channels {
 public:
  // Called every few milliseconds while a call waits. Returning an error ends the wait with that error.
  using Stop = absl::FunctionRef<absl::Status()>;
  virtual ~Channels() = default;
  // Copies a value, which consists of dense row-major arrays of `shapes`, to the end of the channel.
  virtual absl::Status Put(const Channel& channel, absl::Span<const Shape> shapes,
                           absl::Span<const std::byte* const> arrays, Stop stop) = 0;
  // Waits for the channel's first value, which must have `shapes`, and copies it to `arrays`.
  virtual absl::Status Take(const Channel& channel, absl::Span<const Shape> shapes,
                            absl::Span<std::byte* const> arrays, Stop stop) = 0;
};

// INVALID_ARGUMENT unless the shapes of the sent value (`given`) match those expected by the receiver.
absl::Status CheckTaken(const Channel& channel, absl::Span<const Shape> given, absl::Span<const Shape> taken);

// The transfer that an instruction with a channel does when it runs.
struct Transfer {
  enum class Action : uint8_t { kNothing, kPut, kTake };
  Action action = Action::kNothing;
  Channel channel;            // Without `from` and `to`.
  std::vector<Shape> shapes;  // The value's arrays: the first operands, or the first of the results' leaves.
  // For kPeer, pairs of source and target; empty: each participant sends to itself.
  std::vector<std::pair<int64_t, int64_t>> pairs;
  // Returns the channel of a participant, or nullopt when it takes no part; then its value is zeros.
  std::optional<Channel> Of(int participant) const;
};

// Returns true for infeed, outfeed, send, recv, send-done and recv-done.
bool IsTransfer(Opcode opcode);
bool HasTransfers(const Module& module);
// INVALID_ARGUMENT when the pairs of a send or recv (the attribute _xla_send_recv_source_target_pairs) cannot
// be read, or name an id that is out of range. REQUIRES: IsTransfer.
absl::StatusOr<Transfer> ReadTransfer(Instruction instruction, const Participants& participants);

}  // namespace hlod::hlo
