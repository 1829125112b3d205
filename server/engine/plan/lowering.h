// Lowering: from a module's computations to one flat program of steps over array values. Tuples, calls and
// reshapes are gone; loops and branches are markers in the list, so position in the list is time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"
#include "server/engine/plan/plan.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// An array (or token, of no bytes) of the program: written by one op, but for loop states and branch results,
// which several move into.
using ValueId = int32_t;
inline constexpr int32_t kNone = -1;

enum class Space : uint8_t { kTemporary, kArgument, kResult, kConstant };

struct Value {
  enum class Role : uint8_t {
    kPlain,
    kState,  // A loop's variable, of loop `owner`: read in condition and body, moved into by both kLoopBegin
             // and kLoopBack.
    kJoin,   // A conditional's result, of switch `owner`: moved into by each branch's end.
  };
  int64_t bytes = 0;
  Space space = Space::kTemporary;  // Anything but kTemporary: where it has to lie.
  int32_t index = kNone;            // Number of the argument, result or constant.
  Role role = Role::kPlain;
  int32_t owner = kNone;
  int32_t home = kNone;  // The innermost loop in which it is computed; of a state: its own loop.
};

struct Op {
  enum class Kind : uint8_t {
    kStep,       // inputs -> outputs by `step`.
    kLoopBegin,  // Moves inputs[k] (initial values) into outputs[k] (states).
    kLoopTest,   // inputs = {pred}: leaves the loop when it is false.
    kLoopBack,   // Moves inputs[k] (the body's results) into outputs[k] (states), then goes back behind
                 // kLoopBegin.
    kLoopExit,   // From here on the states are the loop's results.
    kSwitch,     // inputs = {selector}: goes to one of the branches.
    kBranchBegin,
    kBranchEnd,  // Moves inputs[k] into outputs[k] (joins), then goes to kSwitchEnd.
    kSwitchEnd,
    kReturn,  // Moves inputs[k] into outputs[k] (results).
  };
  Kind kind = Kind::kStep;
  // The innermost loop that it runs in: kLoopBegin and kLoopExit are outside, kLoopTest and kLoopBack inside.
  int32_t loop = kNone;
  int32_t control = kNone;  // Its loop or switch, for the markers.
  std::unique_ptr<Step> step;
  const char* reference_opcode = nullptr;  // HLO spelling, of a reference step.
  std::string slow;                        // Of a slow step: opcode, line and reason.
  absl::InlinedVector<ValueId, 3> inputs, outputs;

  // Whether it moves inputs[k] into outputs[k].
  bool IsMove() const {
    return kind == Kind::kLoopBegin || kind == Kind::kLoopBack || kind == Kind::kBranchEnd ||
           kind == Kind::kReturn;
  }
};

// Positions are indices into FlatProgram::ops.
struct Loop {
  int32_t parent = kNone;
  int32_t begin = 0, test = 0, back = 0, exit = 0;
};
struct Switch {
  bool on_pred = false;  // A pred selector: true is branch 0. Else an s32; out of range is the last branch.
  int32_t begin = 0, end = 0;
  std::vector<int32_t> branches;  // Positions of the kBranchBegin markers.
};

struct FlatProgram {
  std::vector<Value> values;
  std::vector<Op> ops;  // The last one is kReturn.
  std::vector<Loop> loops;
  std::vector<Switch> switches;
  std::vector<std::shared_ptr<const hlo::Literal>> constants;

  std::vector<hlo::Shape> arguments, results;  // Array leaves, without layouts.
  std::vector<int> aliases;                    // For each result the argument whose memory it shares, or -1.
  std::vector<ValueId> argument_values;
  int64_t instructions = 0;  // Of the module, in all computations.
};

// Lowers a verified module that CheckRunnable passed. Fused groups come from PlanFusion, other steps from the
// factories of step.h; what has none becomes a reference step, which shares ownership of `module`.
// RESOURCE_EXHAUSTED when byte counts overflow or calls multiply beyond the limit.
absl::StatusOr<FlatProgram> Lower(std::shared_ptr<const hlo::Module> module, const CompileOptions& options,
                                  int threads);

// CANCELLED or DEADLINE_EXCEEDED when the compilation has to stop (plan.cc).
absl::Status Interrupted(const CompileOptions& options);

// Instructions at most of an optimised module of so many, once its branches, its loops and the calls that are
// left are laid out at each place that they are called from: they double as quickly as calls, and take as
// much memory (InlinedInstructionsMax).
constexpr int64_t LoweredInstructionsMax(int64_t instructions) { return 500'000 + 2 * instructions; }
// Values, leaves of instructions and operands of ops at most, after inlining: what memory of lowering
// follows.
inline constexpr int64_t kLoweredLeavesMax = 16'000'000;
// Bytes of one array at most: more than a machine can address. Scratch memory, some times the bytes of the
// arrays that a step works on, is then counted without overflow.
inline constexpr int64_t kValueBytesMax = int64_t{1} << 48;

}  // namespace hlod::engine
