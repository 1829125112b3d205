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
  // Returns the order in which an operand is read without a copy, with the contracted dimensions last or
  // first.
  Dims Wanted(bool contracted_last) const {
    return contracted_last ? Order(free, contracted) : Order(contracted, free);
  }
  bool LiesWell(bool contracted_last) const {
    const Dims order = Wanted(contracted_last);
    return std::is_sorted(order.begin(), order.end());
  }
};

Groups GroupsOf(const hlo::Shape& shape, const Dims& batch, const Dims& contracted) {
  Groups groups{batch, {}, contracted};
  for (int64_t dim = 0; dim < shape.rank(); ++dim) {
    if (!Has(batch, dim) && !Has(contracted, dim)) groups.free.push_back(dim);
  }
  return groups;
}

// Transposes an operand so that its dimensions are in the wanted order, and writes their new numbers to
// `batch` and `contracted`.
NodeId Transposed(passes::ComputationCopy& copy, Instruction dot, uint32_t operand, const Groups& groups,
                  bool contracted_last, Dims& batch, Dims& contracted) {
  const hlo::Shape& from = dot.operand(operand).shape();
  const Dims order = groups.Wanted(contracted_last);
  hlo::Shape to = hlo::Shape::Array(from.type, std::initializer_list<int64_t>{});
  for (const int64_t dim : order) to.dims.push_back(from.dims[static_cast<size_t>(dim)]);
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<int64_t>(i);
  const size_t first = contracted_last ? order.size() - contracted.size() : batch.size();
  for (size_t i = 0; i < contracted.size(); ++i) contracted[i] = static_cast<int64_t>(first + i);
  return copy.Replace(dot, hlo::kTranspose, copy.tables().Intern(to), hlo::DimensionsAttributes{order},
                      {copy.node(dot.operands()[operand])});
}

// Returns true when some, and not all, of the batch dimensions have the size 1. XLA removes those by a
// reshape, which then stands between a transpose of the operand and the product.
bool HasOneOfBatch(const hlo::Shape& lhs, const hlo::DotAttributes& attributes) {
  const auto ones = std::ranges::count_if(
      attributes.lhs_batch, [&](int64_t dim) { return lhs.dims[static_cast<size_t>(dim)] == 1; });
  return ones > 0 && ones < static_cast<std::ptrdiff_t>(attributes.lhs_batch.size());
}

// Appends the product of the operands, each broadcast to the dot's dimensions. REQUIRES: nothing is
// contracted.
NodeId Outer(passes::ComputationCopy& copy, Instruction dot, const Groups& left, const Groups& right) {
  const hlo::Shape result = dot.shape();
  const auto spread = [&](uint32_t operand, const Groups& groups, size_t first) {
    Dims places(dot.operand(operand).shape().dims.size(), 0);  // By dimension of the operand.
    for (size_t i = 0; i < groups.batch.size(); ++i)
      places[static_cast<size_t>(groups.batch[i])] = static_cast<int64_t>(i);
    for (size_t i = 0; i < groups.free.size(); ++i)
      places[static_cast<size_t>(groups.free[i])] = static_cast<int64_t>(first + i);
    return copy.Replace(dot, hlo::kBroadcast, copy.tables().Intern(result), hlo::DimensionsAttributes{places},
                        {copy.node(dot.operands()[operand])});
  };
  const NodeId lhs = spread(0, left, left.batch.size()),
               rhs = spread(1, right, left.batch.size() + left.free.size());
  return copy.Replace(dot, hlo::kMultiply, dot.shape_id(), hlo::NoAttributes{}, {lhs, rhs});
}

NodeId Rewrite(passes::ComputationCopy& copy, Instruction dot, Compiler compiler) {
  hlo::DotAttributes attributes = dot.attributes<hlo::DotAttributes>();
  const Groups left = GroupsOf(dot.operand(0).shape(), attributes.lhs_batch, attributes.lhs_contracting),
               right = GroupsOf(dot.operand(1).shape(), attributes.rhs_batch, attributes.rhs_contracting);
  const bool same_type =
      dot.operand(0).shape().type == dot.shape().type && dot.operand(1).shape().type == dot.shape().type;
  if (compiler == Compiler::kXlaCpu && same_type && left.contracted.empty())
    return Outer(copy, dot, left, right);
  const bool either = compiler != Compiler::kXlaCpu || !HasOneOfBatch(dot.operand(0).shape(), attributes);
  const bool copies_left = !left.LiesWell(true) && !(either && left.LiesWell(false)),
             copies_right = !right.LiesWell(false) && !(either && right.LiesWell(true));
  if (!copies_left && !copies_right) return copy.Clone(dot);
  NodeId lhs = copy.node(dot.operands()[0]), rhs = copy.node(dot.operands()[1]);
  if (copies_left)
    lhs = Transposed(copy, dot, 0, left, /*contracted_last=*/true, attributes.lhs_batch,
                     attributes.lhs_contracting);
  if (copies_right)
    rhs = Transposed(copy, dot, 1, right, /*contracted_last=*/false, attributes.rhs_batch,
                     attributes.rhs_contracting);
  const NodeId now = copy.Replace(dot, hlo::kDot, dot.shape_id(), attributes, {lhs, rhs});
  copy.to().mutable_notes(now).name = dot.name();
  return now;
}

}  // namespace

std::unique_ptr<hlo::Module> WithDotCopies(const hlo::Module& module, Compiler compiler) {
  return passes::Rewritten(module, nullptr,
                           [compiler](passes::ComputationCopy& copy, Instruction instruction) {
                             return instruction.opcode() == hlo::kDot ? Rewrite(copy, instruction, compiler)
                                                                      : copy.Clone(instruction);
                           });
}

}  // namespace hlod::analysis
