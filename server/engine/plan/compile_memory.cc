// Weights of instructions, measured as the growth of the daemon's resident memory per instruction.
#include "server/engine/plan/compile_memory.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "common/passes/passes.h"
#include "server/engine/plan/runnable.h"

namespace hlod::engine {
namespace {

// An instruction in the copies of the passes, in the lowered program and in its liveness (measured: 0.4 to
// 1.0 KiB in chains of 20,000 to 300,000).
constexpr int64_t kInstructionBytes = 1 << 10;
// The generated code and descriptors of a contraction (measured: 17 KiB per dot of 64x64).
constexpr int64_t kContractionBytes = 16 << 10;

int64_t BytesOf(hlo::Instruction instruction) {
  switch (instruction.opcode()) {
    case hlo::kDot:
    case hlo::kRaggedDot:
    case hlo::kConvolution: return kInstructionBytes + kContractionBytes;
    case hlo::kFft:
    case hlo::kSort:
    case hlo::kReduce:
    case hlo::kReduceWindow:
    case hlo::kSelectAndScatter:
    case hlo::kCustomCall: return kInstructionBytes + kLibraryStepBytes;
    default: return kInstructionBytes;
  }
}

// Returns the bytes of the results that constant folding might keep, if all operands were constants.
int64_t FoldedBytes(const hlo::Module& module) {
  int64_t bytes = 0;
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& computation = module.computation(c);
    for (hlo::NodeId id = 0; id < computation.size() && bytes < passes::kFoldedBytesTotal; ++id) {
      const hlo::Instruction instruction = computation[id];
      if (instruction.opcode() == hlo::kConstant || instruction.opcode() == hlo::kParameter) continue;
      const int64_t own = instruction.shape().IsArray() ? hlo::ByteSize(instruction.shape()).value_or(0) : 0;
      if (own <= passes::kFoldedBytesMax) bytes += own;
    }
  }
  return std::min(bytes, passes::kFoldedBytesTotal);
}

}  // namespace

int64_t ConstantBytes(const hlo::Module& module) {
  absl::flat_hash_set<hlo::LiteralId> literals;
  int64_t bytes = 0;
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& computation = module.computation(c);
    for (hlo::NodeId id = 0; id < computation.size(); ++id) {
      if (computation[id].opcode() != hlo::kConstant) continue;
      const hlo::LiteralId literal = computation[id].attributes<hlo::ConstantAttributes>().literal;
      if (!literals.insert(literal).second) continue;
      for (const hlo::Literal* leaf : module.tables().literal(literal).Leaves())
        bytes += static_cast<int64_t>(leaf->bytes().size());
    }
  }
  return bytes;
}

int64_t CompileBytes(const hlo::Module& module) {
  const int64_t laid_out =
      std::max(SumLaidOut(module, BytesOf), kInstructionBytes * module.instruction_count());
  return std::min(kLaidOutSumMax, laid_out + ConstantBytes(module) + FoldedBytes(module));
}

}  // namespace hlod::engine
