// Lowering converts a module's computations to one flat program of steps over array values. Tuples, calls and
// reshapes disappear. Loops and branches become markers in the list of ops, so a position in the list is a
// time.
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

// An array of the program (or a token, which has no bytes). One op writes it, except for loop states and
// branch results, into which several ops move values.
using ValueId = int32_t;
inline constexpr int32_t kNone = -1;

enum class Space : uint8_t { kTemporary, kArgument, kResult, kConstant };

struct Value {
  enum class Role : uint8_t {
    kPlain,
    kState,  // A variable of loop `owner`. Condition and body read it; kLoopBegin and kLoopBack move values
             // into it.
    kJoin,   // A result of the conditional that is switch `owner`. Each branch's end moves a value into it.
  };
  int64_t bytes = 0;
  // The memory that it must be in; kTemporary leaves the choice to buffer assignment.
  Space space = Space::kTemporary;
  int32_t index = kNone;            // The number of the argument, result or constant.
  Role role = Role::kPlain;
  int32_t owner = kNone;
  int32_t home = kNone;  // The innermost loop in which it is computed; for a state, its own loop.
};

// A line of the program that was compiled. `file` is an index into FlatProgram::files.
struct SourceLine {
  int32_t file = 0, line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};
// The limit on the bytes of a file name, because sessions keep these texts.
inline constexpr size_t kSourceFileMax = 256;
// The number of files that a plan names. The lines of further ones are left out.
inline constexpr size_t kSourceFilesMax = 1000;

struct Op {
  enum class Kind : uint8_t {
    kStep,       // Runs `step` from inputs to outputs.
    kLoopBegin,  // Moves inputs[k] (initial values) into outputs[k] (states).
    kLoopTest,   // Leaves the loop when inputs[0], a pred, is false.
    kLoopBack,   // Moves inputs[k] (the body's results) into outputs[k] (states), then jumps to the op after
                 // kLoopBegin.
    kLoopExit,   // After it, the states hold the loop's results.
    kSwitch,     // Jumps to the branch that inputs[0], the selector, chooses.
    kBranchBegin,
    kBranchEnd,  // Moves inputs[k] into outputs[k] (joins), then jumps to kSwitchEnd.
    kSwitchEnd,
    kReturn,  // Moves inputs[k] into outputs[k] (results).
  };
  Kind kind = Kind::kStep;
  // The innermost loop that the op runs in: kLoopBegin and kLoopExit are outside their loop, kLoopTest and
  // kLoopBack inside.
  int32_t loop = kNone;
  int32_t control = kNone;  // The loop or switch that a marker belongs to.
  std::unique_ptr<Step> step;
  const char* reference_opcode = nullptr;  // The HLO spelling of a reference step's opcode.
  std::string slow;                        // The opcode, source line and reason of a slow step; else empty.
  absl::InlinedVector<ValueId, 3> inputs, outputs;
  // For profiles. The lines that the step's instructions come from, at most kLinesMax; the element type that
  // it computes in; and the bytes of its first input that it reads when it does not need all of them, or that
  // it writes of its first output when both share memory (`writes_part`), else -1. A fused step has the bytes
  // of all its inputs that it reads.
  static constexpr size_t kLinesMax = 4;
  absl::InlinedVector<SourceLine, 1> lines;
  hlo::PrimitiveType type = hlo::kInvalid;
  bool writes_part = false;
  int64_t part_bytes = -1;

  // True when the op moves inputs[k] into outputs[k].
  bool IsMove() const {
    return kind == Kind::kLoopBegin || kind == Kind::kLoopBack || kind == Kind::kBranchEnd ||
           kind == Kind::kReturn;
  }
};

// A loop's markers, as indices into FlatProgram::ops.
struct Loop {
  int32_t parent = kNone;
  int32_t begin = 0, test = 0, back = 0, exit = 0;
};
struct Switch {
  // True for a pred selector, for which true is branch 0. Otherwise the selector is an s32, and out of range
  // means the last branch.
  bool on_pred = false;
  int32_t begin = 0, end = 0;
  std::vector<int32_t> branches;  // Positions of the kBranchBegin markers.
};

struct FlatProgram {
  std::vector<Value> values;
  std::vector<Op> ops;  // The ops, of which the last is kReturn.
  std::vector<Loop> loops;
  std::vector<Switch> switches;
  std::vector<std::shared_ptr<const hlo::Literal>> constants;

  std::vector<hlo::Shape> arguments, results;  // The array leaves, without layouts.
  std::vector<int> aliases;                    // For each result the argument whose memory it shares, or -1.
  std::vector<ValueId> argument_values;
  std::vector<std::string> files;  // The names of source files, at most kSourceFileMax bytes each.
  int64_t instructions = 0;  // The instructions of the module in all computations.
};

// Lowers a verified module that CheckRunnable accepted. PlanFusion determines fused groups; other steps are
// made by the factories of step.h. An instruction without a factory becomes a reference step, which shares
// ownership of `module`. Returns RESOURCE_EXHAUSTED when byte counts overflow or calls multiply beyond the
// limit.
absl::StatusOr<FlatProgram> Lower(std::shared_ptr<const hlo::Module> module, const CompileOptions& options,
                                  int threads);

// Returns CANCELLED or DEADLINE_EXCEEDED when the compilation has to stop, else OK. Defined in plan.cc.
absl::Status Interrupted(const CompileOptions& options);

// The limit on the instructions of an optimised module of the given size, after its branches, its loops and
// its remaining calls are laid out at each place that calls them. These multiply as quickly as inlined calls,
// and need as much memory (see InlinedInstructionsMax).
constexpr int64_t LoweredInstructionsMax(int64_t instructions) { return 500'000 + 2 * instructions; }
// The limit on values, leaves of instructions and operands of ops together, after inlining. The memory that
// lowering takes is proportional to it.
inline constexpr int64_t kLoweredLeavesMax = 16'000'000;
// The limit on the bytes of one array: more than a machine can address. Scratch memory, which is a small
// multiple of the bytes of the arrays that a step works on, can then be counted without overflow.
inline constexpr int64_t kValueBytesMax = int64_t{1} << 48;

}  // namespace hlod::engine
