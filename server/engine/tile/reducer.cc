// Reads reducers' computations; those of argmax and argmin in the forms in which frameworks write them.
#include "server/engine/tile/reducer.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

using hlo::ComparisonDirection;
using hlo::NodeId;

// Positions of fewer bits could wrap.
constexpr int kPlaceBytesMin = 4;
constexpr int64_t kPlacesMax = int64_t{1} << 31;

// The reducer's computation, with its parameters a, i, b, j.
class ArgReader {
 public:
  explicit ArgReader(const hlo::Computation& computation) : c_(computation) {}

  std::optional<ArgReducer> Read() {
    if (c_.parameters().size() != 4) return std::nullopt;
    for (const NodeId id : c_.parameters()) {
      if (id == hlo::Computation::kNoNode || !c_[id].shape().IsScalar()) return std::nullopt;
    }
    const hlo::Instruction root = c_.root();
    if (root.opcode() != hlo::kTuple || root.operand_count() != 2) return std::nullopt;
    const hlo::Instruction value = root.operand(0), place = root.operand(1);
    if (!IsSelect(value, A(), B()) || !IsSelect(place, I(), J())) return std::nullopt;
    const NodeId first = value.operands()[0], kept = place.operands()[0];
    if (!ReadFirst(first)) return std::nullopt;
    if (kept == first || ReadLower(kept, first)) return reducer_;
    return std::nullopt;
  }

 private:
  NodeId A() const { return c_.parameters()[0]; }
  NodeId I() const { return c_.parameters()[1]; }
  NodeId B() const { return c_.parameters()[2]; }
  NodeId J() const { return c_.parameters()[3]; }

  static bool IsSelect(hlo::Instruction select, NodeId a, NodeId b) {
    return select.opcode() == hlo::kSelect && select.operands()[1] == a && select.operands()[2] == b;
  }
  // Returns the direction of a comparison of two nodes by the order that is usual for their type.
  std::optional<ComparisonDirection> Comparison(NodeId id, NodeId x, NodeId y) const {
    const hlo::Instruction compare = c_[id];
    if (compare.opcode() != hlo::kCompare || compare.operands()[0] != x || compare.operands()[1] != y)
      return std::nullopt;
    const auto& attributes = compare.attributes<hlo::CompareAttributes>();
    if (attributes.type != hlo::DefaultComparisonType(c_[x].shape().type)) return std::nullopt;
    return attributes.direction;
  }
  // Reads the condition under which the value a is kept.
  bool ReadFirst(NodeId id) {
    if (c_[id].opcode() == hlo::kOr) {
      const NodeId left = c_[id].operands()[0], right = c_[id].operands()[1];
      if (Comparison(right, A(), A()) == ComparisonDirection::kNe) id = left;
      else if (Comparison(left, A(), A()) == ComparisonDirection::kNe) id = right;
      else return false;
      reducer_.first_nan = true;
    }
    const std::optional<ComparisonDirection> direction = Comparison(id, A(), B());
    if (!direction.has_value()) return false;
    switch (*direction) {
      case ComparisonDirection::kGt:
      case ComparisonDirection::kLt: reducer_.strict = true; break;
      case ComparisonDirection::kGe:
      case ComparisonDirection::kLe: reducer_.strict = false; break;
      default: return false;
    }
    reducer_.maximum = *direction == ComparisonDirection::kGt || *direction == ComparisonDirection::kGe;
    return true;
  }
  // Reads `first or (a == b and i < j)`.
  bool ReadLower(NodeId id, NodeId first) {
    if (c_[id].opcode() != hlo::kOr) return false;
    const NodeId left = c_[id].operands()[0], right = c_[id].operands()[1];
    if (left != first && right != first) return false;
    const hlo::Instruction tie = c_[left == first ? right : left];
    if (tie.opcode() != hlo::kAnd) return false;
    for (const auto& [equal, less] :
         {std::pair(tie.operands()[0], tie.operands()[1]), std::pair(tie.operands()[1], tie.operands()[0])}) {
      if (Comparison(equal, A(), B()) == ComparisonDirection::kEq &&
          Comparison(less, I(), J()) == ComparisonDirection::kLt) {
        reducer_.lower = true;
        return true;
      }
    }
    return false;
  }

  const hlo::Computation& c_;
  ArgReducer reducer_;
};

bool IsOrdered(hlo::PrimitiveType type) {
  return (hlo::IsInteger(type) && hlo::Info(type).bits >= 8) || type == hlo::kPred || type == hlo::kF32 ||
         type == hlo::kF64 || type == hlo::kF16 || type == hlo::kBF16;
}

// Returns true when the node's elements are their index in dimension `along`.
bool CountsAlong(const hlo::Computation& computation, NodeId node, int64_t along) {
  const View view = ResolveView(computation, node, 1);
  const hlo::Dims& sizes = computation[node].shape().dims;
  if (!view.is_iota || view.offset != 0) return false;
  absl::InlinedVector<View::Dimension, 4> wanted;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (sizes[d] == 1) continue;
    const int64_t stride = d == along ? 1 : 0;
    if (!wanted.empty() && wanted.back().stride == stride * sizes[d]) wanted.back().size *= sizes[d];
    else wanted.push_back({sizes[d], stride});
  }
  if (wanted.size() != view.dims.size()) return false;
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d].size != view.dims[d].size || wanted[d].stride != view.dims[d].stride) return false;
  }
  return true;
}

}  // namespace

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

std::optional<ArgReducer> MatchArgReduce(const hlo::Module& module, hlo::Instruction instruction) {
  if (instruction.opcode() != hlo::kReduce || instruction.operand_count() != 4 || !AllStatic(instruction) ||
      instruction.dimensions().size() != 1) {
    return std::nullopt;
  }
  const hlo::Shape &values = instruction.operand(0).shape(), &places = instruction.operand(1).shape();
  const int64_t along = instruction.dimensions()[0];
  if (!IsOrdered(values.type) || !hlo::IsInteger(places.type) || Width(places) < kPlaceBytesMin ||
      places.type == hlo::kU64 ||  // An initial place might exceed an int64.
      values.dims[along] < 2 || values.dims[along] > kPlacesMax || Elements(values) == 0) {
    return std::nullopt;
  }
  const std::optional<ArgReducer> reducer = ArgReader(module.computation(instruction.called()[0])).Read();
  if (!reducer.has_value() || !CountsAlong(instruction.computation(), instruction.operands()[1], along))
    return std::nullopt;
  return reducer;
}

std::vector<bool> FindArgReduces(const hlo::Module& module, const hlo::Computation& computation) {
  std::vector<bool> found(computation.size(), false);
  for (NodeId id = 0; id < computation.size(); ++id) {
    if (computation[id].opcode() == hlo::kReduce)
      found[id] = MatchArgReduce(module, computation[id]).has_value();
  }
  return found;
}

}  // namespace hlod::engine
