// Derivatives of a function whose body is still being traced.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/autodiff/residual_primals.h"
#include "client/transform/autodiff/rules.h"
#include "client/transform/functions/suspend.h"
#include "hlod/ops/creation.h"
#include "hlod/transform/transform.h"

namespace hlod::lazy {
namespace {

Operation DerivativeNamed(const char* what) { return {what, what, Promotion::kNone, "a derivative"}; }

Subgraph WholeGraph(Lowering& l, std::vector<NodeId> inputs) {
  const std::vector<bool> wanted(inputs.size(), true);
  return {l.graph.computation(), 0, l.graph.size(), std::move(inputs), wanted, &l.graph};
}

// Returns primals that are the trace's own nodes up to the first instruction with a body. Later nodes are
// copied, because they may depend on a loop that forward mode replaces by a loop of values and tangents.
RecomputedPrimals UpToLoops(Lowering& l) {
  const hlo::Computation& computation = l.graph.computation();
  std::vector<Op> parameters;
  for (const Parameter& parameter : l.graph.parameters()) parameters.push_back(l.graph.op(parameter.node));
  RecomputedPrimals values(l, computation, std::move(parameters));
  for (NodeId node = 0; node < computation.size(); ++node) {
    if (ControlRulesOf(computation[node].opcode()) != nullptr) break;
    values.Set(node, l.graph.op(node));
  }
  return values;
}

void CheckInputs(const char* what, const std::vector<Tensor>& inputs, const std::vector<std::string>& paths,
                 const Caller& caller) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (IsDifferentiable(inputs[i].dtype())) continue;
    Throw(ErrorKind::kArgument,
          absl::StrCat(paths[i], " is ", hlo::ToStringNoLayout(inputs[i].shape()),
                       ": gradients exist by floating and complex tensors only"),
          what, caller);
  }
}

void CheckCotangents(const char* what, const std::vector<Shape>& shapes,
                     const std::vector<Tensor>& cotangents, const Caller& caller) {
  if (shapes.size() != cotangents.size()) {
    Throw(ErrorKind::kArgument, "the cotangent has not the structure of the result", what, caller);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i] == cotangents[i].shape()) continue;
    Throw(ErrorKind::kArgument,
          absl::StrCat("the cotangent ", hlo::ToStringNoLayout(cotangents[i].shape()),
                       " does not fit a result ", hlo::ToStringNoLayout(shapes[i])),
          what, caller);
  }
}

std::vector<Shape> ShapesOf(const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape());
  return shapes;
}

}  // namespace

Tensor Seed(const char* what, const Tensor& value, const Caller& caller) {
  if (!value.defined() || value.numel() != 1 || !hlo::IsFloat(value.dtype())) {
    Throw(ErrorKind::kArgument,
          absl::StrCat("the function's value must be a floating tensor of one element; it is ",
                       value.defined() ? hlo::ToStringNoLayout(value.shape()) : "undefined"),
          what, caller);
  }
  const AutocastSuspension suspension;
  return Call(DerivativeNamed(what), {Operand(value, caller)},
              [](Lowering& l, Operands o) { return l.Full(l.type(o[0]), l.dims(o[0]), 1); });
}

std::vector<Tensor> AppendVjp(const char* what, const std::vector<Tensor>& outputs,
                              const std::vector<Tensor>& cotangents, const std::vector<Tensor>& inputs,
                              const std::vector<std::string>& paths, const Caller& caller) {
  CheckInputs(what, inputs, paths, caller);
  std::vector<Operand> operands = OperandsOf(outputs, caller);
  for (const Tensor& tensor : cotangents) operands.emplace_back(tensor, caller);
  for (const Tensor& tensor : inputs) operands.emplace_back(tensor, caller);
  CheckCotangents(what, ShapesOf(outputs), cotangents, caller);
  const AutocastSuspension suspension;
  return CallSeveral(DerivativeNamed(what), operands, [&](Lowering& l, Operands o) {
    const size_t count = outputs.size();
    const std::vector<NodeId> given = Ids(o.subspan(0, count));
    const Subgraph part = WholeGraph(l, Ids(o.subspan(2 * count, inputs.size())));
    InPlacePrimals values(l);
    std::vector<Op> results = AppendVjp(l, part, values, given, o.subspan(count, count));
    for (size_t i = 0; i < results.size(); ++i) {
      if (IsZero(results[i])) results[i] = Zeros(l, l.shape(o[2 * count + i]));
    }
    return results;
  });
}

// A transposed function, to be called with cotangents. Its arguments are the cotangents, then one per element
// of `sources`.
class TransposedFunction {
 public:
  // The source of an argument: the input with that index; a captured tensor, with its value at the time of
  // the transposition; a number; or, when none of these is set, the next residual.
  struct Source {
    std::optional<size_t> input;
    Tensor tensor;
    std::shared_ptr<const Literal> number;
  };

  const char* what = "";
  Function function;
  std::vector<Source> sources;
  std::vector<Shape> cotangents, results;
};

namespace {

TransposedFunction::Source SourceOf(const Trace& graph, NodeId node, const std::vector<NodeId>& inputs) {
  const auto input = std::find(inputs.begin(), inputs.end(), node);
  if (input != inputs.end()) return {static_cast<size_t>(input - inputs.begin()), {}, nullptr};
  const Parameter* const parameter = graph.ParameterAt(node);
  if (parameter == nullptr || parameter->random) return {};
  if (parameter->literal != nullptr) return {{}, {}, parameter->literal};
  if (!parameter->captured.defined()) return {};
  const TensorImpl& captured = *parameter->captured.impl();
  auto now = MakeRef<TensorImpl>(NextId(), MakeRef<Storage>(captured.storage->value), MarkedView(captured));
  now->lineage = captured.lineage;
  return {{}, MakeTensor(std::move(now)), nullptr};
}

}  // namespace

std::shared_ptr<const TransposedFunction> Transposed(const char* what, const std::vector<Tensor>& outputs,
                                                     const std::vector<Tensor>& inputs,
                                                     const std::vector<std::string>& paths,
                                                     std::vector<Tensor>& residuals, const Caller& caller) {
  CheckInputs(what, inputs, paths, caller);
  auto made = std::make_shared<TransposedFunction>();
  made->what = what;
  made->cotangents = ShapesOf(outputs);
  made->results = ShapesOf(inputs);
  std::vector<Operand> operands = OperandsOf(outputs, caller);
  for (const Tensor& tensor : inputs) operands.emplace_back(tensor, caller);
  const AutocastSuspension suspension;
  residuals = CallSeveral(DerivativeNamed(what), operands, [&](Lowering& l, Operands o) {
    const size_t count = outputs.size();
    const Subgraph part = WholeGraph(l, Ids(o.subspan(count, inputs.size())));
    Trace scratch(l.graph.place, Trace::Kind::kFunction);
    Lowering inner{scratch};
    std::vector<Op> cotangents;
    for (const Shape& shape : made->cotangents) {
      cotangents.push_back(scratch.op(scratch.ArgumentParameter(shape)));
    }
    ResidualPrimals values(inner, l.graph, 0, part.inputs);
    std::vector<Op> results = AppendVjp(inner, part, values, Ids(o.subspan(0, count)), cotangents);
    for (size_t i = 0; i < results.size(); ++i) {
      if (IsZero(results[i])) results[i] = Zeros(inner, made->results[i]);
    }
    std::vector<NodeId> arguments = Ids(cotangents);
    std::vector<Op> kept;
    for (const auto* list : {&values.slices(), &values.kept()}) {
      for (const ResidualPrimals::Residual& taken : *list) {
        made->sources.push_back(SourceOf(l.graph, taken.node, part.inputs));
        const TransposedFunction::Source& source = made->sources.back();
        if (!source.input && !source.tensor.defined() && source.number == nullptr) {
          kept.push_back(l.graph.op(taken.node));
        }
        arguments.push_back(taken.parameter.id);
      }
    }
    made->function = Extract(scratch, arguments, Ids(results));
    return kept;
  });
  return made;
}

std::vector<Tensor> CallTransposed(const TransposedFunction& function, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& cotangents,
                                   const std::vector<Tensor>& residuals, const Caller& caller) {
  CheckCotangents(function.what, function.cotangents, cotangents, caller);
  std::vector<Tensor> tensors = cotangents;
  size_t next = 0;
  for (const TransposedFunction::Source& source : function.sources) {
    if (source.number != nullptr) continue;
    tensors.push_back(source.input              ? inputs[*source.input]
                      : source.tensor.defined() ? source.tensor
                                                : residuals[next++]);
  }
  const AutocastSuspension suspension;
  return CallSeveral(
      DerivativeNamed(function.what), OperandsOf(tensors, caller), [&](Lowering& l, Operands o) {
        std::vector<Op> arguments(o.begin(), o.begin() + static_cast<ptrdiff_t>(cotangents.size()));
        o.remove_prefix(cotangents.size());
        for (const TransposedFunction::Source& source : function.sources) {
          if (source.number != nullptr) {
            arguments.push_back(l.graph.op(l.graph.NumberParameter(*source.number)));
            continue;
          }
          arguments.push_back(o.front());
          o.remove_prefix(1);
        }
        return Inline(l, function.function, arguments, {});
      });
}

std::vector<Tensor> AppendJvp(const char* what, const std::vector<Tensor>& outputs,
                              const std::vector<Tensor>& inputs, const std::vector<Tensor>& tangents,
                              const Caller& caller) {
  std::vector<Operand> operands = OperandsOf(outputs, caller);
  for (const Tensor& tensor : inputs) operands.emplace_back(tensor, caller);
  for (const Tensor& tensor : tangents) operands.emplace_back(tensor, caller);
  bool fits = inputs.size() == tangents.size();
  for (size_t i = 0; fits && i < inputs.size(); ++i) fits = inputs[i].shape() == tangents[i].shape();
  if (!fits) Throw(ErrorKind::kArgument, "the tangents have not the shapes of the arguments", what, caller);
  const AutocastSuspension suspension;
  return CallSeveral(DerivativeNamed(what), operands, [&](Lowering& l, Operands o) {
    const size_t count = outputs.size();
    const Subgraph part = WholeGraph(l, Ids(o.subspan(count, inputs.size())));
    std::vector<Op> directions(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsDifferentiable(inputs[i].dtype())) directions[i] = o[count + inputs.size() + i];
    }
    RecomputedPrimals values = UpToLoops(l);
    const std::vector<NodeId> given = Ids(o.subspan(0, count));
    std::vector<Op> made = AppendJvp(l, part, values, directions, given), results;
    for (const NodeId node : given) results.push_back(values.Of(node));
    for (size_t i = 0; i < count; ++i) results.push_back(IsZero(made[i]) ? Zeros(l, l.shape(o[i])) : made[i]);
    return results;
  });
}

std::vector<Tensor> PlaceholdersLike(const std::vector<Tensor>& tensors, const Caller& caller) {
  std::vector<Tensor> all;
  for (const Tensor& tensor : tensors)
    all.push_back(Placeholder(tensor.dims(), tensor.dtype(), tensor.device(), false, caller));
  return all;
}

std::vector<Tensor> ZerosOf(const std::vector<Tensor>& tensors, const Caller& caller) {
  std::vector<Tensor> all;
  for (const Tensor& tensor : tensors)
    all.push_back(Zeros(tensor.dims(), {.type = tensor.dtype(), .device = tensor.device()}, caller));
  return all;
}

}  // namespace hlod::lazy
