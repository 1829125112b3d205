// Inserts transposes in front of dots where they are needed.
#include "client/analysis/module/dot_operands.h"

#include <algorithm>

#include "common/passes/copy.h"

namespace hlod::analysis {
namespace {

using hlo::Dims;
using hlo::Instruction;
using hlo::NodeId;

bool Has(const Dims& dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

// The dimensions of one operand by their role in the dot.
struct Groups {
  Dims batch, free, contracted;

  Dims Order(const Dims& middle, const Dims& last) const {
    Dims order = batch;
    order.insert(order.end(), middle.begin(), middle.end());
    order.insert(order.end(), last.begin(), last.end());
    return order;
  }
  bool LiesWell() const {
    const Dims one = Order(free, contracted), other = Order(contracted, free);
    return std::is_sorted(one.begin(), one.end()) || std::is_sorted(other.begin(), other.end());
  }
};

Groups GroupsOf(const hlo::Shape& shape, const Dims& batch, const Dims& contracted) {
  Groups groups{batch, {}, contracted};
  for (int64_t dim = 0; dim < shape.rank(); ++dim) {
    if (!Has(batch, dim) && !Has(contracted, dim)) groups.free.push_back(dim);
  }
  return groups;
}

// Transposes an operand to the order batch, free, contracted, and writes the new numbers of its dimensions to
// `batch` and `contracted`.
NodeId Transposed(passes::ComputationCopy& copy, Instruction dot, uint32_t operand, const Groups& groups,
                  Dims& batch, Dims& contracted) {
  const hlo::Shape& from = dot.operand(operand).shape();
  const Dims order = groups.Order(groups.free, groups.contracted);
  hlo::Shape to = hlo::Shape::Array(from.type, std::initializer_list<int64_t>{});
  for (const int64_t dim : order) to.dims.push_back(from.dims[static_cast<size_t>(dim)]);
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<int64_t>(i);
  for (size_t i = 0; i < contracted.size(); ++i)
    contracted[i] = static_cast<int64_t>(order.size() - contracted.size() + i);
  return copy.Replace(dot, hlo::kTranspose, copy.tables().Intern(to), hlo::DimensionsAttributes{order},
                      {copy.node(dot.operands()[operand])});
}

NodeId Rewrite(passes::ComputationCopy& copy, Instruction dot) {
  hlo::DotAttributes attributes = dot.attributes<hlo::DotAttributes>();
  const Groups left = GroupsOf(dot.operand(0).shape(), attributes.lhs_batch, attributes.lhs_contracting),
               right = GroupsOf(dot.operand(1).shape(), attributes.rhs_batch, attributes.rhs_contracting);
  if (left.LiesWell() && right.LiesWell()) return copy.Clone(dot);
  NodeId lhs = copy.node(dot.operands()[0]), rhs = copy.node(dot.operands()[1]);
  if (!left.LiesWell())
    lhs = Transposed(copy, dot, 0, left, attributes.lhs_batch, attributes.lhs_contracting);
  if (!right.LiesWell())
    rhs = Transposed(copy, dot, 1, right, attributes.rhs_batch, attributes.rhs_contracting);
  const NodeId now = copy.Replace(dot, hlo::kDot, dot.shape_id(), attributes, {lhs, rhs});
  copy.to().mutable_notes(now).name = dot.name();
  return now;
}

}  // namespace

std::unique_ptr<hlo::Module> WithDotCopies(const hlo::Module& module) {
  return passes::Rewritten(module, nullptr, [](passes::ComputationCopy& copy, Instruction instruction) {
    return instruction.opcode() == hlo::kDot ? Rewrite(copy, instruction) : copy.Clone(instruction);
  });
}

}  // namespace hlod::analysis
