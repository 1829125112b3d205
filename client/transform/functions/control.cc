// Loops and branches: traced bodies become computations that a single instruction calls.
#include "hlod/transform/control.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/generator.h"
#include "client/tensor/function/extra_arguments.h"
#include "client/tensor/function/function.h"
#include "client/tensor/value/throw.h"
#include "client/transform/functions/callee.h"
#include "client/transform/functions/loop.h"
#include "client/transform/functions/prints_of.h"
#include "common/base/text/strings.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/joining.h"

namespace hlod::lazy {
namespace {

constexpr Operation kScan = {"Scan", "scan", Promotion::kNone, "a loop over slices"};
constexpr Operation kWhile = {"While", "while_loop", Promotion::kNone, "a loop"};
constexpr Operation kCond = {"Cond", "cond", Promotion::kNone, "one of several functions"};

// The number of steps of the random stream that are reserved for a While, whose trip count is not known.
constexpr uint64_t kStepsOfWhile = uint64_t{1} << 32;

Literal PositionStep(uint64_t steps) { return Literal::Array<uint64_t>({3}, {0, steps, 0}); }

// Returns the positions in the stream of random numbers for all iterations of a loop, [length, 3].
Op PositionRows(Lowering& l, Op first, uint64_t steps, int64_t length) {
  const Dims dims = {length, 3};
  const Op iterations = l.b.Iota(Shape::Array(hlo::kU64, dims), 0);
  const Op step = l.b.Broadcast(l.b.Constant(PositionStep(steps)), dims, {1});
  return l.b.Broadcast(first, dims, {1}) + iterations * step;
}

std::vector<Op> LowerScan(Lowering& l, Operands o, const Function& body, const LoopInputs& loop) {
  const size_t carry_count = loop.carries.size(), stack_count = loop.stacks.size();
  const Operands carries = o.subspan(0, carry_count), stacks = o.subspan(carry_count, stack_count);
  const Operands constants = o.subspan(carry_count + stack_count, loop.constants.size());
  Operands captured = o.subspan(carry_count + stack_count + constants.size());
  const RandomState random =
      body.random_steps == 0 ? RandomState{}
                             : Advance(l.graph.place, body.random_steps * static_cast<uint64_t>(loop.length));
  const std::vector<Op> extras = ExtraArgumentsFrom(l, body, captured, random);

  // The instruction's inputs and carries, and the position among them of each parameter of the body.
  std::vector<Op> inputs(stacks.begin(), stacks.end()), state(carries.begin(), carries.end());
  struct InputOrCarry {
    bool input;
    size_t index;
  };
  std::vector<InputOrCarry> places;
  for (size_t i = 0; i < carry_count; ++i) places.push_back({false, i});
  for (size_t i = 0; i < stack_count; ++i) places.push_back({true, i});
  for (const Op constant : constants) {
    places.push_back({false, state.size()});
    state.push_back(constant);
  }
  for (size_t i = 0; i < extras.size(); ++i) {
    if (body.extra[i].literal != nullptr && body.extra[i].random) {
      places.push_back({true, inputs.size()});
      inputs.push_back(PositionRows(l, extras[i], body.random_steps, loop.length));
    } else {
      places.push_back({false, state.size()});
      state.push_back(extras[i]);
    }
  }
  if (state.empty()) state.push_back(l.Number(hlo::kS32, 0));  // A scan has at least one carry.

  Callee callee("scan_body");
  std::vector<NodeId> slices, carried, parameters;
  for (const Op input : inputs) {
    Shape slice = l.shape(input);
    slice.dims.erase(slice.dims.begin());
    slices.push_back(callee.Parameter(slice));
  }
  for (const Op carry : state) carried.push_back(callee.Parameter(l.shape(carry)));
  for (const InputOrCarry& place : places)
    parameters.push_back(place.input ? slices[place.index] : carried[place.index]);
  const std::vector<NodeId> outputs = callee.Append(body, parameters);
  const auto after_carries = outputs.begin() + static_cast<ptrdiff_t>(carry_count);
  std::vector<NodeId> results(after_carries, outputs.end());
  results.insert(results.end(), outputs.begin(), after_carries);
  results.insert(results.end(), carried.begin() + static_cast<ptrdiff_t>(carry_count), carried.end());

  hlo::ScanAttributes attributes;
  attributes.num_carries = static_cast<int64_t>(state.size());
  attributes.is_reverse = loop.reverse;
  inputs.insert(inputs.end(), state.begin(), state.end());
  const Op scan = l.b.Add(hlo::kScan, inputs, attributes, {callee.FinishTuple(results)});
  const size_t stacked = outputs.size() - carry_count;
  std::vector<Op> all = ElementsOf(l, scan, stacked, stacked + carry_count);
  for (const Op output : ElementsOf(l, scan, 0, stacked)) all.push_back(output);
  return all;
}

std::vector<Op> LowerWhile(Lowering& l, Operands o, const Function& condition, const Function& body,
                           size_t carry_count) {
  if (condition.random_steps != 0)
    Refuse("the condition of a loop draws random numbers; draw them in its body");
  Operands captured = o.subspan(carry_count);
  std::vector<Op> state(o.begin(), o.begin() + static_cast<ptrdiff_t>(carry_count));
  const RandomState random = body.random_steps == 0 ? RandomState{} : Advance(l.graph.place, kStepsOfWhile);
  const size_t of_condition = state.size();
  for (const Op extra : ExtraArgumentsFrom(l, condition, captured, {})) state.push_back(extra);
  const size_t of_body = state.size();
  for (const Op extra : ExtraArgumentsFrom(l, body, captured, random)) state.push_back(extra);
  const Shape tuple = TupleOf(l, state);

  const auto parameters_of = [&](Callee& callee, const Function& function, NodeId parameter, size_t extras) {
    std::vector<NodeId> parameters;
    for (size_t i = 0; i < carry_count; ++i)
      parameters.push_back(callee.Element(parameter, static_cast<int64_t>(i)));
    for (size_t i = 0; i < function.extra.size(); ++i) {
      parameters.push_back(callee.Element(parameter, static_cast<int64_t>(extras + i)));
    }
    return parameters;
  };
  Callee test("while_condition");
  const NodeId tested = test.Parameter(tuple);
  const hlo::ComputationId condition_id =
      test.Finish(test.Append(condition, parameters_of(test, condition, tested, of_condition))[0]);

  Callee step("while_body");
  const NodeId parameter = step.Parameter(tuple);
  std::vector<NodeId> results = step.Append(body, parameters_of(step, body, parameter, of_body));
  for (size_t i = results.size(); i < state.size(); ++i) {
    results.push_back(step.Element(parameter, static_cast<int64_t>(i)));
    const Parameter* const extra = i < of_body ? nullptr : &body.extra[i - of_body];
    if (extra != nullptr && extra->literal != nullptr && extra->random) {
      results.back() = step.AddConstant(results.back(), PositionStep(body.random_steps));
    }
  }
  const Op end = l.b.While(l.b.Tuple(state), condition_id, step.FinishTuple(results));
  return ElementsOf(l, end, 0, carry_count);
}

// Returns the selector as a pred, or as an s32 clamped to the number of branches.
Op Selector(Lowering& l, Op selector, size_t branches) {
  if (!l.dims(selector).empty())
    Refuse("the selector of branches has the shape %s; it is a scalar", ListText(l.dims(selector)));
  if (l.type(selector) == hlo::kPred) {
    if (branches != 2) Refuse("a pred selects among 2 branches, not %d", branches);
    return selector;
  }
  if (!hlo::IsInteger(l.type(selector)))
    Refuse("the selector of branches is %s; it is a pred or an integer", hlo::Name(l.type(selector)));
  const Op index = l.Convert(selector, hlo::kS64);
  return l.Convert(
      l.b.Clamp(l.Number(hlo::kS64, 0), index, l.Number(hlo::kS64, static_cast<int64_t>(branches) - 1)),
      hlo::kS32);
}

// Returns a branch's results, then what each branch prints, after a pred that is true for this branch: zeros
// for the others.
std::vector<NodeId> WithPrints(Callee& callee, const std::vector<NodeId>& outputs, const Traced& branch,
                               const std::vector<std::shared_ptr<const Traced>>& branches) {
  const auto first = outputs.begin() + static_cast<ptrdiff_t>(branch.result_count());
  std::vector<NodeId> all(outputs.begin(), first);
  for (const auto& other : branches) {
    if (other->prints().empty()) continue;
    const bool own = other.get() == &branch;
    all.push_back(callee.Constant(NumberLiteral(hlo::kPred, own)));
    if (own) {
      all.insert(all.end(), first, outputs.end());
      continue;
    }
    const Function& function = other->function();
    for (size_t i = other->result_count(); i < function.outputs.size(); ++i) {
      all.push_back(callee.Zeros((*function.computation)[function.outputs[i]].shape()));
    }
  }
  return all;
}

std::vector<Op> LowerBranches(Lowering& l, Operands o,
                              const std::vector<std::shared_ptr<const Traced>>& branches,
                              size_t argument_count) {
  const Operands arguments = o.subspan(1, argument_count);
  Operands captured = o.subspan(1 + argument_count);
  uint64_t steps = 0;
  for (const auto& branch : branches) steps = std::max(steps, branch->function().random_steps);
  const RandomState random = steps == 0 ? RandomState{} : Advance(l.graph.place, steps);
  std::vector<Op> operands;
  std::vector<hlo::ComputationId> callees;
  for (const auto& branch : branches) {
    std::vector<Op> given(arguments.begin(), arguments.end());
    for (const Op extra : ExtraArgumentsFrom(l, branch->function(), captured, random)) given.push_back(extra);
    Callee callee("branch");
    const NodeId parameter = callee.Parameter(TupleOf(l, given));
    std::vector<NodeId> parameters;
    for (size_t i = 0; i < given.size(); ++i)
      parameters.push_back(callee.Element(parameter, static_cast<int64_t>(i)));
    const std::vector<NodeId> outputs = callee.Append(branch->function(), parameters);
    callees.push_back(callee.FinishTuple(WithPrints(callee, outputs, *branch, branches)));
    operands.push_back(l.b.Tuple(given));
  }
  const Op result = l.b.Conditional(Selector(l, o[0], branches.size()), operands, callees);
  return ElementsOf(l, result, 0, l.shape(result).tuple.size());
}

void AddCaptured(const Traced& traced, std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : traced.function().Captured()) tensors.push_back(tensor);
}

// Throws when leaf `i` of two lists differs in shape or type.
void CheckLeaf(const Operation& operation, const Tensor& given, const std::string& path, const Tensor& other,
               const char* relation, const Caller& caller) {
  if (given.dtype() == other.dtype() && given.dims() == other.dims()) return;
  Throw(ErrorKind::kArgument,
        absl::StrCat(path, " is ", hlo::ToStringNoLayout(given.shape()), relation,
                     hlo::ToStringNoLayout(other.shape())),
        operation.pytorch, caller);
}

}  // namespace

std::vector<Tensor> SlicesOf(ScanInputs& inputs) {
  if (inputs.stacks.empty()) {
    Throw(ErrorKind::kArgument, "xs holds no tensor: its first size is the number of iterations",
          kScan.pytorch, inputs.caller);
  }
  std::vector<Tensor> slices;
  for (size_t i = 0; i < inputs.stacks.size(); ++i) {
    const Tensor& stack = inputs.stacks[i];
    if (stack.rank() == 0) {
      Throw(ErrorKind::kArgument, absl::StrCat(inputs.stack_paths[i], " is a scalar, which has no slices"),
            kScan.pytorch, inputs.caller);
    }
    if (i == 0) inputs.length = stack.size(0);
    if (stack.size(0) != inputs.length) {
      Throw(ErrorKind::kArgument,
            absl::StrCat(inputs.stack_paths[i], " has ", stack.size(0), " slices, ", inputs.stack_paths[0],
                         " has ", inputs.length),
            kScan.pytorch, inputs.caller);
    }
    const Dims dims(stack.dims().begin() + 1, stack.dims().end());
    slices.push_back(Placeholder(dims, stack.dtype(), stack.device(), false, inputs.caller));
  }
  return slices;
}

void CheckCarry(const char* what, const Flattened& given, const std::vector<std::string>& paths,
                const Flattened& returned, const std::vector<std::string>& returned_paths,
                const Caller& caller) {
  if (given.structure != returned.structure) tree::CheckSame(given, paths, returned, returned_paths, caller);
  const Operation& operation = what == std::string_view("scan") ? kScan : kWhile;
  for (size_t i = 0; i < given.leaves.size(); ++i) {
    CheckLeaf(operation, given.leaves[i], paths[i], returned.leaves[i], ", and the body returns it as ",
              caller);
  }
}

void CheckBranch(const Flattened& first, const std::vector<std::string>& paths, const Flattened& other,
                 const std::vector<std::string>& other_paths, const Caller& caller) {
  if (first.structure != other.structure) tree::CheckSame(first, paths, other, other_paths, caller);
  for (size_t i = 0; i < first.leaves.size(); ++i) {
    CheckLeaf(kCond, first.leaves[i], paths[i], other.leaves[i], " in the first branch, and in another one ",
              caller);
  }
}

std::vector<Tensor> CallLoop(const Operation& operation, const Traced& body, const LoopInputs& inputs,
                             const Caller& caller) {
  std::vector<Tensor> tensors = inputs.carries;
  tensors.insert(tensors.end(), inputs.stacks.begin(), inputs.stacks.end());
  tensors.insert(tensors.end(), inputs.constants.begin(), inputs.constants.end());
  AddCaptured(body, tensors);
  std::vector<Tensor> results =
      CallSeveral(operation, OperandsOf(tensors, caller),
                  [&](Lowering& l, Operands o) { return LowerScan(l, o, body.function(), inputs); });
  if (body.prints().empty()) return results;
  EmitPrintsOf(body,
               {{.kind = Print::Kind::kRepeat,
                 .size = inputs.length,
                 .reverse = inputs.reverse,
                 .parts = body.prints()}},
               results);
  return results;
}

std::vector<Tensor> CallScan(const Traced& body, const ScanInputs& inputs, bool reverse) {
  return CallLoop(kScan, body, {inputs.carries, inputs.stacks, {}, inputs.length, reverse}, inputs.caller);
}

namespace {

// Throws unless the condition returns a single pred, which is true to continue.
void CheckCondition(const Traced& condition, const Caller& caller) {
  const Function& function = condition.function();
  if (function.outputs.empty())
    Throw(ErrorKind::kArgument, "the condition of the loop gives an undefined tensor", kWhile.pytorch,
          caller);
  const Shape shape = (*function.computation)[function.outputs[0]].shape();
  if (shape.type == hlo::kPred && shape.dims.empty()) return;
  Throw(ErrorKind::kArgument,
        absl::StrCat("the condition of the loop gives ", hlo::ToStringNoLayout(shape),
                     "; it must give pred[], a comparison of scalars: All() or Any() makes one of several"),
        kWhile.pytorch, caller);
}

}  // namespace

std::vector<Tensor> CallWhile(const Traced& condition, const Traced& body, const std::vector<Tensor>& carries,
                              const Caller& caller) {
  CheckCondition(condition, caller);
  RefusePrints(condition, kWhile.pytorch, caller);
  RefusePrints(body, kWhile.pytorch, caller);
  std::vector<Tensor> tensors = carries;
  AddCaptured(condition, tensors);
  AddCaptured(body, tensors);
  return CallSeveral(kWhile, OperandsOf(tensors, caller), [&](Lowering& l, Operands o) {
    return LowerWhile(l, o, condition.function(), body.function(), carries.size());
  });
}

std::vector<Tensor> CallBranches(const Operand& selector,
                                 const std::vector<std::shared_ptr<const Traced>>& branches,
                                 const std::vector<Tensor>& arguments) {
  if (branches.empty())
    Throw(ErrorKind::kArgument, "the list of branches is empty", kCond.pytorch, selector.caller());
  std::vector<Tensor> tensors = {TensorOf(kCond, selector)};
  tensors.insert(tensors.end(), arguments.begin(), arguments.end());
  for (const auto& branch : branches) AddCaptured(*branch, tensors);
  std::vector<Tensor> results =
      CallSeveral(kCond, OperandsOf(tensors, selector.caller()),
                  [&](Lowering& l, Operands o) { return LowerBranches(l, o, branches, arguments.size()); });
  std::vector<Print> prints;
  for (const auto& branch : branches) {
    if (branch->prints().empty()) continue;
    prints.push_back({.kind = Print::Kind::kMaybe, .parts = branch->prints()});
  }
  EmitPrintsOf(*branches[0], std::move(prints), results);
  return results;
}

Tensor Counter(int64_t lower, int64_t length, const std::vector<Tensor>& like, const Caller& caller) {
  const Device device = like.empty() ? Device() : like[0].device();
  return Arange(lower, lower + length, 1, {.type = kS64, .device = device}, caller);
}

std::vector<Tensor> StackLayers(const std::vector<Flattened>& layers,
                                const std::vector<std::vector<std::string>>& paths, const Caller& caller) {
  std::vector<Tensor> stacked;
  for (size_t layer = 1; layer < layers.size(); ++layer) {
    if (layers[layer].structure != layers[0].structure) {
      tree::CheckSame(layers[0], paths[0], layers[layer], paths[layer], caller);
    }
  }
  for (size_t leaf = 0; leaf < layers[0].leaves.size(); ++leaf) {
    std::vector<Tensor> slices;
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      CheckLeaf(kScan, layers[0].leaves[leaf], paths[0][leaf], layers[layer].leaves[leaf],
                absl::StrCat(" in layer 0, and in layer ", layer, " ").c_str(), caller);
      slices.push_back(layers[layer].leaves[leaf]);
    }
    stacked.push_back(Stack(slices, 0, caller));
  }
  return stacked;
}

}  // namespace hlod::lazy
