// Reads a reducer's computation.
#include "server/engine/tile/reducer.h"

namespace hlod::engine {

ScalarReducer RecogniseReducer(const hlo::Computation& computation) {
  if (computation.parameters().size() != 2) return ScalarReducer::kNone;
  for (hlo::NodeId id : computation.parameters()) {
    if (id == hlo::Computation::kNoNode || !computation[id].shape().IsScalar()) return ScalarReducer::kNone;
  }
  const hlo::Instruction root = computation.root();
  if (root.id() == computation.parameters()[1]) return ScalarReducer::kSecond;
  if (root.operand_count() != 2 || !root.shape().IsScalar()) return ScalarReducer::kNone;
  const hlo::NodeId first = computation.parameters()[0], second = computation.parameters()[1];
  const hlo::NodeId a = root.operands()[0], b = root.operands()[1];
  if (!((a == first && b == second) || (a == second && b == first))) return ScalarReducer::kNone;
  if (root.shape().type != computation[first].shape().type) return ScalarReducer::kNone;
  switch (root.opcode()) {
    case hlo::kAdd: return ScalarReducer::kAdd;
    case hlo::kMultiply: return ScalarReducer::kMultiply;
    case hlo::kMinimum: return ScalarReducer::kMinimum;
    case hlo::kMaximum: return ScalarReducer::kMaximum;
    case hlo::kAnd: return ScalarReducer::kAnd;
    case hlo::kOr: return ScalarReducer::kOr;
    case hlo::kXor: return ScalarReducer::kXor;
    default: return ScalarReducer::kNone;
  }
}

}  // namespace hlod::engine
