// Vmap: calls a traced function over a batch.
#include "hlod/transform/vmap.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/throw.h"
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/batch/axis.h"
#include "client/transform/batch/batch.h"
#include "client/transform/functions/mask.h"
#include "client/transform/functions/prints_of.h"
#include "client/transform/functions/suspend.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {

Dims Shifted(const Dims& dims) {
  Dims shifted = dims;
  for (int64_t& dim : shifted) ++dim;
  return shifted;
}

Op BatchArgs::With(size_t i) const {
  if (x[i].has_batch) return x[i].op;
  Dims dims = l.dims(x[i].op), mapping;
  for (int64_t dim = 0; dim < static_cast<int64_t>(dims.size()); ++dim) mapping.push_back(dim + 1);
  dims.insert(dims.begin(), size);
  return l.b.Broadcast(x[i].op, dims, mapping);
}

std::vector<Op> BatchArgs::AllWith() const {
  std::vector<Op> all;
  for (size_t i = 0; i < x.size(); ++i) all.push_back(With(i));
  return all;
}

Shape BatchArgs::Whole(const Shape& one) const {
  if (!one.IsArray()) {
    std::vector<Shape> elements;
    for (const Shape& element : one.tuple) elements.push_back(Whole(element));
    return Shape::Tuple(std::move(elements));
  }
  Dims dims = one.dims;
  dims.insert(dims.begin(), size);
  return Shape::Array(one.type, dims);
}

namespace {

using BatchedElements = std::vector<Batched>;  // The elements of a tuple, or the only array.

class Batcher {
 public:
  Batcher(Lowering& l, const hlo::Computation& from, int64_t size, absl::Span<const Batched> parameters,
          const BatchSettings& settings)
      : l_(l), from_(from), size_(size), parameters_(parameters), settings_(settings) {}

  void Run() {
    values_.resize(from_.size());
    for (NodeId node = 0; node < from_.size(); ++node) {
      values_[node] = Value(node);
      if (!IsStopped(from_, node)) continue;
      for (Batched& value : values_[node]) value.op = StopGradient(l_, value.op);
    }
  }
  const BatchedElements& Of(NodeId node) const { return values_[node]; }

 private:
  BatchedElements Value(NodeId node) {
    const hlo::Instruction instruction = from_[node];
    const absl::Span<const NodeId> operands = instruction.operands();
    switch (instruction.opcode()) {
      case hlo::kParameter: return {parameters_[static_cast<size_t>(instruction.parameter_number())]};
      case hlo::kTuple: {
        BatchedElements elements;
        for (const NodeId operand : operands) elements.push_back(values_[operand][0]);
        return WithRule(node, std::move(elements));
      }
      case hlo::kGetTupleElement:
        return {values_[operands[0]]
                       [static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index)]};
      case hlo::kOptBarrier: return Barrier(values_[operands[0]], instruction.shape().IsArray());
      case hlo::kRngBitGenerator:
        if (settings_.random_different) return RandomBits(instruction);
        break;
      case hlo::kCustomCall:
        if (IsAxisCall(instruction)) {
          return {BatchedAxisCall(l_, instruction, values_[operands[0]][0], values_[operands[1]][0], size_,
                                  settings_.axis_name)};
        }
        break;
      default: break;
    }
    bool any = false;
    for (const NodeId operand : operands) {
      for (const Batched& value : values_[operand]) any = any || value.has_batch;
    }
    const ControlBatchRule control = ControlBatchRuleOf(instruction);
    if (control != nullptr && (any || settings_.random_different)) {
      const std::function<Batched(const Leaf&)> value = [this](const Leaf& leaf) {
        return values_[leaf.node][leaf.element];
      };
      return control({l_, from_, node, size_, settings_, value});
    }
    if (!any) {
      absl::InlinedVector<NodeId, 8> same;
      for (const NodeId operand : operands) same.push_back(Whole(operand).id);
      return Parts(l_.graph.op(l_.graph.AppendCopy(from_, node, same)), instruction.shape(), false);
    }
    const BatchRule rule = TheBatchRules().by_opcode[static_cast<size_t>(instruction.opcode())];
    if (rule == nullptr) Refuse("%s has no batching rule", hlo::Name(instruction.opcode()));
    std::vector<Batched> x;
    for (const NodeId operand : operands) x.push_back(values_[operand][0]);
    const std::vector<hlo::ComputationId> called(instruction.called().begin(), instruction.called().end());
    const Op result =
        rule({l_, size_, instruction.opcode(), instruction.shape(), instruction.attributes(), called, x});
    if (IsMasking(from_, node) && l_.b.status().ok()) MarkMasking(l_.graph.mutable_notes(result.id));
    return Parts(result, instruction.shape(), true);
  }

  // Returns the value of a node that has no batch dimension.
  Op Whole(NodeId node) {
    if (from_[node].shape().IsArray()) return values_[node][0].op;
    std::vector<Op> elements;
    for (const Batched& element : values_[node]) elements.push_back(element.op);
    return l_.b.Tuple(elements);
  }
  // Wraps a tuple that has its own derivative rule in that rule again; then all elements are batched.
  BatchedElements WithRule(NodeId node, BatchedElements elements) {
    const std::string_view rule = OwnRule(from_, node);
    if (rule.empty()) return elements;
    bool any = false;
    for (const Batched& element : elements) any = any || element.has_batch;
    std::vector<Op> ops;
    for (const Batched& element : elements) {
      ops.push_back(any && !element.has_batch ? Repeated(element.op) : element.op);
    }
    const Op tuple = TupleWithRule(rule, ops, OwnResults(from_, node));
    return Parts(tuple, l_.shape(tuple), any);
  }
  // Repeats a value for each example.
  Op Repeated(Op op) {
    Dims dims = l_.dims(op), kept;
    for (size_t i = 0; i < dims.size(); ++i) kept.push_back(static_cast<int64_t>(i) + 1);
    dims.insert(dims.begin(), size_);
    return l_.b.Broadcast(op, dims, kept);
  }

  BatchedElements Parts(Op op, const Shape& shape, bool has_batch) {
    if (shape.IsArray()) return {{op, has_batch}};
    BatchedElements elements;
    for (size_t i = 0; i < shape.tuple.size(); ++i) {
      elements.push_back({l_.b.GetTupleElement(op, static_cast<int64_t>(i)), has_batch});
    }
    return elements;
  }

  BatchedElements Barrier(const BatchedElements& in, bool array) {
    if (array) return {{l_.b.Add(hlo::kOptBarrier, {in[0].op}), in[0].has_batch}};
    std::vector<Op> ops;
    for (const Batched& element : in) ops.push_back(element.op);
    const Op barrier = l_.b.Add(hlo::kOptBarrier, {l_.b.Tuple(ops)});
    BatchedElements elements;
    for (size_t i = 0; i < in.size(); ++i) {
      elements.push_back({l_.b.GetTupleElement(barrier, static_cast<int64_t>(i)), in[i].has_batch});
    }
    return elements;
  }

  BatchedElements RandomBits(const hlo::Instruction& instruction) {
    const Batched state = values_[instruction.operands()[0]][0];
    if (state.has_batch) Refuse("random bits from a state of each example have no batching rule");
    const Shape& one = instruction.shape();
    Dims dims = one.tuple[1].dims;
    dims.insert(dims.begin(), size_);
    const Shape whole = Shape::Tuple({one.tuple[0], Shape::Array(one.tuple[1].type, dims)});
    const Op both = l_.b.Add(hlo::kRngBitGenerator, {state.op}, instruction.attributes(), {}, &whole);
    return {{l_.b.GetTupleElement(both, 0), false}, {l_.b.GetTupleElement(both, 1), true}};
  }

  Lowering& l_;
  const hlo::Computation& from_;
  const int64_t size_;
  const absl::Span<const Batched> parameters_;
  const BatchSettings& settings_;
  std::vector<BatchedElements> values_;
};

int64_t Axis(const Tensor& leaf, int64_t axis) { return axis < 0 ? axis + leaf.rank() : axis; }

}  // namespace

std::vector<Batched> Batch(Lowering& l, const hlo::Computation& from, int64_t size,
                           absl::Span<const Batched> parameters, absl::Span<const NodeId> outputs,
                           const BatchSettings& settings) {
  Batcher batcher(l, from, size, parameters, settings);
  batcher.Run();
  std::vector<Batched> results;
  for (const NodeId output : outputs) results.push_back(batcher.Of(output)[0]);
  return results;
}

void CheckListed(size_t listed, size_t arguments, const Caller& caller) {
  if (listed <= arguments) return;
  Throw(ErrorKind::kArgument,
        absl::StrCat("in names a dimension of argument ", listed - 1, ", and the function is called with ",
                     arguments, arguments == 1 ? " argument" : " arguments"),
        "vmap", caller);
}

std::vector<Tensor> FirstExamples(const std::vector<Tensor>& leaves,
                                  const std::vector<std::optional<int64_t>>& axes,
                                  const std::vector<std::string>& paths, const Caller& caller) {
  std::vector<Tensor> examples;
  std::optional<size_t> first;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!axes[i].has_value()) {
      examples.push_back(leaves[i]);
      continue;
    }
    const int64_t axis = Axis(leaves[i], *axes[i]);
    if (axis < 0 || axis >= leaves[i].rank()) {
      Throw(ErrorKind::kArgument,
            absl::StrCat(paths[i], " is ", hlo::ToStringNoLayout(leaves[i].shape()), " and has no dimension ",
                         *axes[i], " of examples"),
            "vmap", caller);
    }
    const int64_t size = leaves[i].size(axis);
    if (!first.has_value()) first = i;
    const int64_t other = leaves[*first].size(Axis(leaves[*first], *axes[*first]));
    if (size == 0) {
      Throw(ErrorKind::kArgument,
            absl::StrCat(paths[i], " is ", hlo::ToStringNoLayout(leaves[i].shape()), " and has no examples"),
            "vmap", caller);
    }
    if (size != other) {
      Throw(ErrorKind::kArgument,
            absl::StrCat(paths[i], " has ", size, " examples, ", paths[*first], " has ", other), "vmap",
            caller);
    }
    examples.push_back(leaves[i].Select(axis, 0, caller));
  }
  if (!first.has_value()) {
    Throw(ErrorKind::kArgument, "no argument has a dimension of examples", "vmap", caller);
  }
  return examples;
}

std::vector<Tensor> CallBatched(const Traced& traced, const std::vector<Tensor>& arguments,
                                const std::vector<std::optional<int64_t>>& axes, const VmapOptions& options,
                                const Caller& caller) {
  static constexpr Operation kVmap = {"Vmap", "vmap", Promotion::kNone, "over a batch"};
  const AutocastSuspension suspension;
  const Function& function = traced.function();
  int64_t size = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (axes[i].has_value()) size = arguments[i].size(*axes[i]);
  }
  const std::vector<Tensor> captured = function.Captured();
  std::vector<Operand> operands = OperandsOf(arguments, caller);
  for (const Tensor& tensor : captured) operands.emplace_back(tensor, caller);
  std::vector<Tensor> values = CallSeveral(kVmap, operands, [&](Lowering& l, Operands o) {
    if (function.random_steps > 0 && options.randomness == Randomness::kError) {
      Refuse("the function takes random numbers: say whether examples have the same or different ones");
    }
    std::vector<Batched> parameters;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!axes[i].has_value()) parameters.push_back({o[i], false});
      else parameters.push_back({MovedDim(l, o[i], Axis(arguments[i], *axes[i]), 0), true});
    }
    const bool different = options.randomness == Randomness::kDifferent;
    const BatchSettings settings{different, options.axis_name};
    const uint64_t repeats = different ? static_cast<uint64_t>(size) : 1;
    for (const Op extra : ExtraArguments(l, function, o.subspan(arguments.size()), repeats)) {
      parameters.push_back({extra, false});
    }
    std::vector<Op> results;
    const size_t returned = traced.result_count();
    for (const Batched& result :
         Batch(l, *function.computation, size, parameters, function.outputs, settings)) {
      const Shape one = l.shape(result.op);
      const hlo::Attributes none;
      const BatchArgs whole{l, size, hlo::kCopy, one, none, {}, absl::MakeConstSpan(&result, 1)};
      const Op with = whole.With(0);
      const auto rank = static_cast<int64_t>(l.dims(with).size());
      const int64_t wanted = results.size() < returned ? options.out : 0;  // Printed values stay in front.
      const int64_t out = wanted < 0 ? wanted + rank : wanted;
      if (out < 0 || out >= rank) {
        Refuse("a result of shape %s cannot have its examples at dimension %d", ListText(l.dims(with)),
               options.out);
      }
      results.push_back(MovedDim(l, with, 0, out));
    }
    return results;
  });
  if (!traced.prints().empty()) {
    EmitPrintsOf(traced, {{.kind = Print::Kind::kRepeat, .size = size, .parts = traced.prints()}}, values);
  }
  return values;
}

}  // namespace hlod::lazy
