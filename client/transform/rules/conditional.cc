// Derivatives of conditionals. Forward mode is one conditional of values and tangents. In reverse mode each
// branch also returns the residuals of its transpose (the other branches return zeros in their place), and a
// second conditional runs the transpose of the branch that was taken.
#include <algorithm>
#include <deque>

#include "client/transform/autodiff/control_rules.h"
#include "client/transform/autodiff/residual_primals.h"

namespace hlod::lazy {
namespace {

// A branch of a conditional under construction.
struct Branch {
  Branch(const Trace& like, hlo::ComputationId id)
      : scratch(like.place, Trace::Kind::kFunction), inner{scratch}, body(BodyOf(id)) {}

  Op Parameter(const Shape& shape) {
    parameters.push_back(scratch.op(scratch.ArgumentParameter(shape)));
    return parameters.back();
  }

  Trace scratch;
  Lowering inner;
  CalleeBody body;
  std::vector<Leaf> leaves;  // The arrays that the original branch takes.
  std::vector<Op> parameters, operands, outputs;
};

std::deque<Branch> BranchesOf(const Lowering& l, const hlo::Computation& computation, NodeId node) {
  const hlo::Instruction instruction = computation[node];
  std::deque<Branch> branches;
  for (size_t i = 0; i < instruction.called().size(); ++i) {
    branches.emplace_back(l.graph, instruction.called()[i]);
    branches.back().leaves = LeavesOf(computation, instruction.operands()[i + 1]);
  }
  return branches;
}

Op Emit(Lowering& l, const char* name, Op selector, std::deque<Branch>& branches) {
  std::vector<Op> operands;
  std::vector<hlo::ComputationId> called;
  for (Branch& branch : branches) {
    operands.push_back(l.b.Tuple(branch.operands));
    called.push_back(CalleeOf(name, branch.scratch, branch.parameters, branch.outputs, true));
  }
  return l.b.Conditional(selector, operands, called);
}

}  // namespace

Tangents ConditionalJvp(const JvpArgs& c) {
  const Op selector = c.values.Of(c.Operands()[0]);
  std::deque<Branch> branches = BranchesOf(c.l, c.part.computation, c.node);
  std::vector<JvpResult> pushed;
  std::vector<bool> varies(branches.front().body.outputs.size());
  for (Branch& branch : branches) {
    std::vector<Op> values, tangents(branch.leaves.size());
    for (const Leaf& leaf : branch.leaves) {
      branch.operands.push_back(ValueOf(c.values, leaf));
      values.push_back(branch.Parameter(c.l.shape(branch.operands.back())));
    }
    for (size_t i = 0; i < branch.leaves.size(); ++i) {
      const Op given = c.tangent(branch.leaves[i].node, branch.leaves[i].element);
      if (IsZero(given)) continue;
      branch.operands.push_back(given);
      tangents[i] = branch.Parameter(c.l.shape(given));
    }
    pushed.push_back(BodyJvp(branch.inner, branch.body, values, tangents, c.part, c.node));
    for (size_t i = 0; i < varies.size(); ++i) {
      varies[i] = varies[i] || !IsZero(pushed.back().tangents[i]);
    }
  }
  for (size_t b = 0; b < branches.size(); ++b) {
    branches[b].outputs = pushed[b].values;
    for (size_t i = 0; i < varies.size(); ++i) {
      if (!varies[i]) continue;
      const Op tangent = pushed[b].tangents[i];
      branches[b].outputs.push_back(
          IsZero(tangent) ? Zeros(branches[b].inner, branches[b].body.OutputShape(i)) : tangent);
    }
  }
  const Op result = Emit(c.l, "branch_jvp", selector, branches);
  std::vector<Op> values = ElementsOf(c.l, result, 0, varies.size());
  if (branches.front().body.single) c.values.Set(c.node, values[0]);
  else c.values.SetElements(c.node, std::move(values));
  Tangents results;
  size_t next = varies.size();
  for (const bool each : varies) {
    results.push_back(each ? c.l.b.GetTupleElement(result, static_cast<int64_t>(next++)) : Op{});
  }
  return results;
}

namespace {

class ConditionalPuller {
 public:
  explicit ConditionalPuller(const VjpArgs& c)
      : c_(c), l_(c.l), operands_(c.Operands()), branches_(BranchesOf(l_, c.part.computation, c.node)) {}

  void Pull() {
    std::vector<std::vector<Op>> results;
    std::deque<ResidualPrimals> values;
    for (Branch& branch : branches_) {
      std::vector<bool> wanted;
      for (const Leaf& leaf : branch.leaves) {
        wanted.push_back(c_.is_active(leaf.node) &&
                         IsDifferentiable(ShapeOf(c_.part.computation, leaf).type));
      }
      // The operands of a branch are known outside; its other values exist only when it runs.
      ResidualPrimals& residuals = values.emplace_back(
          branch.inner, branch.body,
          std::vector<ResidualPrimals::Source>(branch.leaves.size(), ResidualPrimals::Source::kSlice));
      std::vector<Op> cotangents(branch.body.outputs.size());
      for (size_t i = 0; i < cotangents.size(); ++i) {
        if (IsZero(c_.Cotangent(i))) continue;
        branch.operands.push_back(c_.Cotangent(i));
        cotangents[i] = branch.Parameter(l_.shape(c_.Cotangent(i)));
      }
      const std::vector<NodeId> outputs = branch.body.outputs;
      results.push_back(AppendVjp(branch.inner, SubgraphOf(branch.body, wanted, c_.part, c_.node), residuals,
                                  outputs, cotangents));
      for (const ResidualPrimals::Residual& taken : residuals.slices()) {
        const auto number = static_cast<size_t>(branch.body.computation[taken.node].parameter_number());
        branch.operands.push_back(ValueOf(c_.values, branch.leaves[number]));
        branch.parameters.push_back(taken.parameter);
      }
    }
    Keep(values);
    Give(results);
  }

 private:
  // An added result of the conditional, in which each branch may store one of its residuals.
  struct Slot {
    Shape shape;
    // By branch, the residual that it stores; kNoNode when the branch does not use the slot.
    std::vector<NodeId> node;
  };

  // Makes the conditional also return the residuals of all branches, and passes them to the transposed
  // branches.
  void Keep(const std::deque<ResidualPrimals>& values) {
    constexpr NodeId kNone = hlo::Computation::kNoNode;
    std::vector<Slot> slots;
    // By branch and residual, the index of the result that holds it: an existing result, or, after those, a
    // slot.
    std::vector<std::vector<size_t>> place_of(branches_.size());
    const size_t results = branches_.front().body.outputs.size();
    for (size_t b = 0; b < branches_.size(); ++b) {
      for (const ResidualPrimals::Residual& taken : values[b].kept()) {
        // The branch may return the residual already, because an earlier gradient has added it.
        const std::vector<NodeId>& outputs = branches_[b].body.outputs;
        const auto known = std::find(outputs.begin(), outputs.end(), taken.node);
        if (known != outputs.end() && !branches_[b].body.single) {
          place_of[b].push_back(static_cast<size_t>(known - outputs.begin()));
          continue;
        }
        const Shape shape = branches_[b].body.computation[taken.node].shape();
        size_t slot = 0;
        while (slot < slots.size() && !(slots[slot].shape == shape && slots[slot].node[b] == kNone)) ++slot;
        if (slot == slots.size()) slots.push_back({shape, std::vector<NodeId>(branches_.size(), kNone)});
        slots[slot].node[b] = taken.node;
        place_of[b].push_back(results + slot);
      }
    }
    const std::vector<Op> added = slots.empty() ? std::vector<Op>() : Wide(slots);
    for (size_t b = 0; b < branches_.size(); ++b) {
      for (size_t i = 0; i < place_of[b].size(); ++i) {
        const size_t place = place_of[b][i];
        branches_[b].operands.push_back(place < results ? c_.values.Element(c_.node, place)
                                                        : added[place - results]);
        branches_[b].parameters.push_back(values[b].kept()[i].parameter);
      }
    }
  }

  std::vector<Op> Wide(const std::vector<Slot>& slots) {
    constexpr NodeId kNone = hlo::Computation::kNoNode;
    TupleExtension wider;
    wider.at = branches_.front().body.outputs.size();
    wider.added = slots.size();
    std::vector<Shape> shapes;
    for (size_t i = 0; i < wider.at; ++i) shapes.push_back(branches_.front().body.OutputShape(i));
    for (const Slot& slot : slots) shapes.push_back(slot.shape);
    wider.shape = Shape::Tuple(std::move(shapes));
    bool single = false;
    for (size_t b = 0; b < branches_.size(); ++b) {
      CalleeBody& body = branches_[b].body;
      single = single || body.single;
      for (const Slot& slot : slots) {
        body.outputs.push_back(slot.node[b] == kNone ? ZerosIn(body.computation, slot.shape) : slot.node[b]);
      }
      wider.called.push_back(CalleeOf("branch", body));
    }
    std::vector<Op> kept;
    if (!single) kept = c_.values.ExtendTuple(c_.node, wider);
    if (kept.empty()) {  // The result has another use and cannot change, so a second conditional is appended.
      std::vector<Op> operands;
      for (const NodeId operand : operands_) operands.push_back(c_.values.Of(operand));
      const Op selector = operands.front();
      operands.erase(operands.begin());
      kept = ElementsOf(l_, l_.b.Conditional(selector, operands, wider.called), wider.at,
                        wider.at + wider.added);
    }
    return kept;
  }

  static NodeId ZerosIn(hlo::Computation& computation, const Shape& shape) {
    hlo::Tables& tables = computation.tables();
    const hlo::LiteralId literal =
        tables.Intern(std::make_shared<const Literal>(Literal(Shape::Scalar(shape.type))));
    const NodeId zero =
        computation.Append(hlo::kConstant, tables.Intern(Shape::Scalar(shape.type)),
                           tables.Intern(hlo::Attributes(hlo::ConstantAttributes{literal})), {});
    if (shape.dims.empty()) return zero;
    return computation.Append(hlo::kBroadcast, tables.Intern(shape),
                              tables.Intern(hlo::Attributes(hlo::DimensionsAttributes{})), {zero});
  }

  // Appends the conditional of the transposed branches, which return a cotangent for each array that has one
  // in any branch, and adds these cotangents.
  void Give(const std::vector<std::vector<Op>>& results) {
    std::vector<Leaf> leaves;
    for (size_t b = 0; b < branches_.size(); ++b) {
      for (size_t i = 0; i < results[b].size(); ++i) {
        const Leaf& leaf = branches_[b].leaves[i];
        if (!IsZero(results[b][i]) && std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) {
          leaves.push_back(leaf);
        }
      }
    }
    if (leaves.empty()) return;
    for (size_t b = 0; b < branches_.size(); ++b) {
      Branch& branch = branches_[b];
      for (const Leaf& leaf : leaves) {
        Op sum;
        for (size_t i = 0; i < results[b].size(); ++i) {
          if (branch.leaves[i] == leaf) sum = SumOf(branch.inner, sum, results[b][i]);
        }
        branch.outputs.push_back(IsZero(sum) ? Zeros(branch.inner, ShapeOf(c_.part.computation, leaf)) : sum);
      }
    }
    const Op all = Emit(l_, "branch_vjp", c_.values.Of(operands_[0]), branches_);
    for (size_t i = 0; i < leaves.size(); ++i) {
      c_.add(leaves[i].node, leaves[i].element, l_.b.GetTupleElement(all, static_cast<int64_t>(i)));
    }
  }

  const VjpArgs& c_;
  Lowering& l_;
  const std::vector<NodeId> operands_;
  std::deque<Branch> branches_;
};

}  // namespace

void ConditionalVjp(const VjpArgs& c) { ConditionalPuller(c).Pull(); }

}  // namespace hlod::lazy
