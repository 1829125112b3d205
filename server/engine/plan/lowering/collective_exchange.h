// The exchange of a collective whose participants are in several processes, and take only some of each
// other's bytes. They arrive in the results themselves, unless they are short runs that lie apart, which are
// sent side by side. Of a reduce-scatter, each process reduces the pieces of its own participants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/system/carrier.h"
#include "server/engine/plan/lowering/collective_moves.h"
#include "server/engine/plan/plan.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// The memory that a participant brings to the rendezvous.
struct CollectivePart {
  const std::byte* const* inputs;
  std::byte* const* outputs;  // Without the outputs that are copies of operands, or tokens.
  bool here = true;           // False for a participant of another process.
};

class CollectiveExchange {
 public:
  // One group's exchange.
  struct Meeting {
    std::string place;  // The name at which the processes meet.
    absl::Span<const int> group;
    absl::Span<const int> here;                     // The group's participants in this process, in its order.
    absl::Span<const CollectivePart* const> parts;  // By position in `here`.
    std::byte* space;                               // Has SpaceBytes() bytes.
    const Elsewhere& elsewhere;
    hlod::Carrier::Stop stop;
    StepContext& context;
  };

  // Returns nullopt if participants need all of each other's operands. `collective` was read from
  // `instruction` of `module`.
  static absl::StatusOr<std::optional<CollectiveExchange>> Of(const hlo::Module& module,
                                                              hlo::Instruction instruction,
                                                              const hlo::Collective& collective,
                                                              const CompileOptions& options);

  // The part of StepContext::scratch that Run uses.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // Returns the memory for a group with some participants here, and others elsewhere.
  int64_t SpaceBytes(int64_t here, int64_t elsewhere) const;
  // True if all participants get the same results. Then Run gives them to the first one here.
  bool is_shared() const { return moves_.results() == CollectiveMoves::Results::kShared; }
  // Gives the participants here their results. It leaves out those that take no bytes from anybody.
  absl::Status Run(const Meeting& meeting) const;

 private:
  // Reduces vectors of `elements` elements of one operand.
  struct Fold {
    const Plan* plan = nullptr;
    int64_t elements = 0;
    int64_t width = 0;  // The bytes of an element.
  };
  class Running;

  explicit CollectiveExchange(CollectiveMoves moves) : moves_(std::move(moves)) {}
  absl::Status MakeFolds(const hlo::Module& module, hlo::Instruction instruction, size_t group,
                         const CompileOptions& options);

  CollectiveMoves moves_;
  // The reductions of a reduce-scatter, by operand, and their plans, by the type and number of elements.
  std::vector<Fold> folds_;
  std::map<std::pair<hlo::PrimitiveType, int64_t>, std::unique_ptr<const Plan>> plans_;
  // The bytes that a receiver takes from a sender for reductions, each operand's rounded up.
  int64_t piece_bytes_ = 0;
  // The bytes of the longest vector of a participant, if the runs that are reduced lie apart.
  int64_t gather_bytes_ = 0;
  int64_t scratch_bytes_ = 0;
};

}  // namespace hlod::engine
