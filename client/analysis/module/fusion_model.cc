// Fusion as XLA's instruction fusion does it: producers into consumers.
#include "client/analysis/module/fusion_model.h"

#include <algorithm>

#include "client/analysis/module/access.h"
#include "client/analysis/module/cost.h"

namespace hlod::analysis {
namespace {

// Returns true for opcodes that compute or move each element separately, so that a user can compute the
// element where it is needed.
bool IsLoop(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kIota:
    case hlo::kBroadcast:
    case hlo::kTranspose:
    case hlo::kReverse:
    case hlo::kSlice:
    case hlo::kDynamicSlice:
    case hlo::kPad:
    case hlo::kConcatenate:
    case hlo::kReshape:
    case hlo::kBitcastConvert:
    case hlo::kCopy: return true;
    default: return hlo::HasTrait(opcode, hlo::kElementwise);
  }
}

// Returns true for instructions that a compiler does not compute twice, by XLA's list.
bool IsExpensive(hlo::Instruction i) {
  const hlo::Shape& shape = i.shape();
  switch (i.opcode()) {
    case hlo::kCosine:
    case hlo::kSine:
    case hlo::kTan: return hlo::IsComplex(shape.type);
    case hlo::kDivide:
    case hlo::kRemainder: return !hlo::IsInteger(shape.type) || i.operand(1).opcode() != hlo::kConstant;
    default: return IsTranscendental(i);
  }
}

bool ReducesMinorDimension(hlo::Instruction reduce) {
  const hlo::Dims& dims = reduce.attributes<hlo::DimensionsAttributes>().dimensions;
  return std::find(dims.begin(), dims.end(), reduce.operand(0).shape().rank() - 1) != dims.end();
}

// Returns true when `user` reads operand `index` element by element in its own loop, so that the elements can
// be computed there. XLA's CPU backend has a fast loop of its own for sums over major dimensions, which reads
// memory.
bool TakesIn(hlo::Instruction user, uint32_t index, Compiler compiler) {
  switch (user.opcode()) {
    case hlo::kReduce: return compiler != Compiler::kXlaCpu || ReducesMinorDimension(user);
    case hlo::kMap: return true;
    case hlo::kDynamicUpdateSlice:
    case hlo::kScatter:
      return AccessOf(user, index) != Access::kUpdated;  // An updated array must be in memory.
    case hlo::kGather: return index == 1;
    case hlo::kTuple:
    case hlo::kGetTupleElement: return false;
    default: return IsLoop(user.opcode());
  }
}

// Returns true for operations that XLA's CPU backend computes inside a reduction of its library (YNNPACK),
// which reads everything else from memory.
bool IsOfLibrary(hlo::Instruction i) {
  if (i.shape().type != hlo::kF32) return false;
  switch (i.opcode()) {
    case hlo::kAdd:
    case hlo::kSubtract:
    case hlo::kMultiply:
    case hlo::kDivide:
    case hlo::kNegate:
    case hlo::kMaximum:
    case hlo::kMinimum:
    case hlo::kExponential: return true;
    case hlo::kBroadcast: return i.operand(0).shape().IsScalar();
    default: return false;
  }
}

// Marks what the library's reductions read from memory: `wanted`, by instruction.
void MarkReadByLibrary(const hlo::Computation& computation, const std::vector<uint32_t>& users,
                       std::vector<bool>& wanted) {
  std::vector<bool> inside(computation.size(), false);
  for (hlo::NodeId node = computation.size(); node-- > 0;) {
    const hlo::Instruction i = computation[node];
    const bool reduces = i.opcode() == hlo::kReduce && i.operand_count() == 2 && i.shape().type == hlo::kF32;
    if (!reduces && !inside[node]) continue;
    for (const hlo::NodeId operand : i.operands()) {
      const hlo::Instruction read = computation[operand];
      const bool scalar = read.shape().IsScalar() || (read.opcode() == hlo::kBroadcast && IsOfLibrary(read));
      if (scalar) continue;
      if (users[operand] == 1 && (IsOfLibrary(read) || IsAlias(read.opcode()))) inside[operand] = true;
      else wanted[operand] = true;
    }
  }
}

// Returns true for what CopyInsertion inserts, after fusion.
bool IsArgumentCopy(hlo::Instruction i) {
  return i.opcode() == hlo::kCopy && i.operand(0).opcode() == hlo::kParameter;
}

}  // namespace

bool IsFusible(hlo::Opcode opcode) {
  return IsLoop(opcode) || opcode == hlo::kReduce || opcode == hlo::kScatter;
}

bool IsOfCpuLibrary(hlo::Instruction dot) {
  const hlo::Dims& contracted = dot.attributes<hlo::DotAttributes>().lhs_contracting;
  const int64_t last = dot.operand(0).shape().rank() - 1;
  return dot.shape().type == hlo::kF32 &&
         std::find(contracted.begin(), contracted.end(), last) != contracted.end();
}

std::vector<bool> FusedAway(const hlo::Computation& computation, Compiler compiler) {
  std::vector<bool> fused(computation.size(), false);
  std::vector<uint32_t> users(computation.size(), 0);
  std::vector<bool> wanted(computation.size(), false);  // True when a user cannot compute it inside.
  wanted[computation.root_id()] = true;
  for (hlo::NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction user = computation[node];
    for (uint32_t i = 0; i < user.operand_count(); ++i) {
      ++users[user.operands()[i]];
      if (!TakesIn(user, i, compiler)) wanted[user.operands()[i]] = true;
    }
  }
  const bool on_cpu = compiler == Compiler::kXlaCpu;
  if (on_cpu) MarkReadByLibrary(computation, users, wanted);
  for (hlo::NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction i = computation[node];
    if (!IsLoop(i.opcode()) || wanted[node] || users[node] == 0 || (on_cpu && IsArgumentCopy(i))) continue;
    fused[node] = users[node] == 1 || !IsExpensive(i);
  }
  return fused;
}

}  // namespace hlod::analysis
