// Decides which reduces become part of a fused kernel.
#include "server/engine/tile/reduce_pattern.h"

#include <algorithm>

#include "server/engine/run/step_util.h"
#include "server/engine/tile/program.h"
#include "server/engine/tile/reducer.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

std::optional<FoldOp> FoldFor(ScalarReducer reducer) {
  switch (reducer) {
    case ScalarReducer::kAdd: return FoldOp::kAdd;
    case ScalarReducer::kMultiply: return FoldOp::kMultiply;
    case ScalarReducer::kMinimum: return FoldOp::kMinimum;
    case ScalarReducer::kMaximum: return FoldOp::kMaximum;
    case ScalarReducer::kAnd: return FoldOp::kAnd;
    case ScalarReducer::kOr: return FoldOp::kOr;
    case ScalarReducer::kXor: return FoldOp::kXor;
    default: return std::nullopt;
  }
}

// With fewer than kJobsWanted outputs side by side, a reduction of kSplitElementsMin elements or more is
// split itself, into chunks of at least kElementsAChunk.
constexpr int64_t kJobsWanted = 64, kElementsAChunk = 32768, kSplitElementsMin = 256 * 1024;

}  // namespace

int64_t StripsOf(const ReducePattern& pattern) {
  return pattern.inner == 1 ? 1 : (pattern.inner + kTile - 1) / kTile;
}

int64_t RowsAStep(const ReducePattern& pattern) {
  if (pattern.inner == 1) return kTile;
  return StripsOf(pattern) > 1 ? 1 : std::max<int64_t>(1, kTile / pattern.inner);
}

int64_t StepsOf(const ReducePattern& pattern) {
  const int64_t rows = RowsAStep(pattern);
  return (pattern.reduced + rows - 1) / rows;
}

int64_t ReductionChunks(const ReducePattern& pattern) {
  const int64_t count = pattern.count(), independent = StripsOf(pattern) * pattern.outer;
  if (count < kSplitElementsMin || independent >= kJobsWanted) return 1;
  const int64_t wanted = std::min(kJobsWanted / independent, count / independent / kElementsAChunk);
  return std::clamp<int64_t>(wanted, 1, StepsOf(pattern));
}

std::optional<ReducePattern> MatchReduce(const hlo::Module& module, hlo::Instruction instruction) {
  if (instruction.opcode() != hlo::kReduce || instruction.operand_count() != 2 || !AllStatic(instruction))
    return std::nullopt;
  const hlo::Shape& operand = instruction.operand(0).shape();
  Carrier carrier;
  if (!CarrierOf(operand.type, &carrier) || instruction.shape().type != operand.type ||
      Elements(operand) == 0) {
    return std::nullopt;
  }
  // The initial value is read at the beginning of an array, or a constant.
  const View init = ResolveView(instruction.computation(), instruction.operands()[1], 1);
  if (init.is_iota || init.offset != 0) return std::nullopt;
  const std::optional<FoldOp> op = FoldFor(RecogniseReducer(module.computation(instruction.called()[0])));
  if (!op || GetTileOps().fold(*op, carrier) == nullptr) return std::nullopt;
  ReducePattern pattern;
  const hlo::Dims& dimensions = instruction.dimensions();
  enum { kOuter, kReduced, kInner } at = kOuter;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t size = operand.dims[d];
    if (size == 1) continue;
    const bool reduced = std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
    if (reduced && at == kOuter) at = kReduced;
    if (!reduced && at == kReduced) at = kInner;
    if (reduced && at == kInner) return std::nullopt;
    (at == kOuter ? pattern.outer : at == kReduced ? pattern.reduced : pattern.inner) *= size;
  }
  return pattern;
}

FoldOp FoldOpOf(const hlo::Module& module, hlo::Instruction reduce) {
  return *FoldFor(RecogniseReducer(module.computation(reduce.called()[0])));
}

}  // namespace hlod::engine
