// Batching of instructions with bodies: the bodies are batched, and called by an instruction of the same
// kind. If examples take different branches, all branches are computed for all of them; if their loops end at
// different times, the loop runs until the last one ends. Then the right results are selected per example.
#include <algorithm>

#include "client/tensor/ops/linalg/routine.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/batch/axis.h"
#include "client/transform/batch/batch.h"
#include "client/transform/functions/custom_rule.h"
#include "client/transform/rules/unbounded.h"

namespace hlod::lazy {
namespace {

// A body over a batch, built in a scratch trace.
struct BatchedBody {
  explicit BatchedBody(const Lowering& l) : scratch(l.graph.place, Trace::Kind::kFunction), inner{scratch} {}

  Trace scratch;
  Lowering inner;
  std::vector<Op> parameters;
  std::vector<Batched> outputs;
};

Op WithBatch(Lowering& l, const Batched& x, int64_t size) {
  const Shape one = l.shape(x.op);
  const hlo::Attributes none;
  return BatchArgs{l, size, hlo::kCopy, one, none, {}, absl::MakeConstSpan(&x, 1)}.With(0);
}

// Sets `made` to the body over a batch. `has`: true for the parameters that have the batch dimension.
void BatchBody(const ControlBatchArgs& c, const CalleeBody& body, const std::vector<bool>& has,
               BatchedBody& made) {
  std::vector<Batched> parameters;
  for (size_t i = 0; i < has.size(); ++i) {
    Shape shape = body.ParameterShape(i);
    if (has[i]) shape.dims.insert(shape.dims.begin(), c.size);
    made.parameters.push_back(made.scratch.op(made.scratch.ArgumentParameter(shape)));
    parameters.push_back({made.parameters.back(), has[i]});
  }
  made.outputs = Batch(made.inner, body.computation, c.size, parameters, body.outputs, c.settings);
}

std::vector<Batched> BatchedPrimals(const ControlBatchArgs& c, NodeId operand) {
  std::vector<Batched> values;
  for (const Leaf& leaf : LeavesOf(c.from, operand)) values.push_back(c.value(leaf));
  return values;
}

std::vector<bool> Flags(const std::vector<Batched>& values) {
  std::vector<bool> has;
  for (const Batched& value : values) has.push_back(value.has_batch);
  return has;
}

// If `input` holds positions in the stream of random numbers, u64[3] per iteration, returns them `size` times
// as far apart: when examples draw different numbers, an iteration consumes `size` times as many.
Op Repeated(Lowering& l, Op input, int64_t size) {
  const Dims dims = l.dims(input);
  if (l.type(input) != hlo::kU64 || dims.size() != 2 || dims[1] != 3 || dims[0] == 0) return input;
  const Op first = l.b.Broadcast(l.Reshape(l.b.Slice(input, {0, 0}, {1, 3}), {3}), dims, {1});
  return first + (input - first) * l.Full(hlo::kU64, dims, size);
}

std::vector<Batched> Scan(const ControlBatchArgs& c) {
  Lowering& l = c.l;
  const hlo::Instruction scan = c.from[c.node];
  const hlo::ScanAttributes attributes = scan.attributes<hlo::ScanAttributes>();
  if (attributes.dimension != 0)
    Refuse("a scan along dimension %d has no batching rule", attributes.dimension);
  const auto carries = static_cast<size_t>(attributes.num_carries);
  const size_t inputs = scan.operand_count() - carries, outputs = scan.shape().tuple.size() - carries;
  const CalleeBody body = BodyOf(scan.called()[0]);
  std::vector<Batched> operands;
  for (const NodeId operand : scan.operands()) operands.push_back(c.value({operand}));
  std::vector<bool> has = Flags(operands);
  // A carry has the batch dimension when its initial or its next value has it; this repeats until no carry is
  // added.
  for (bool again = true; again;) {
    again = false;
    BatchedBody made(l);
    BatchBody(c, body, has, made);
    for (size_t i = 0; i < carries; ++i) {
      if (has[inputs + i] || !made.outputs[outputs + i].has_batch) continue;
      has[inputs + i] = again = true;
    }
    if (again) continue;
    std::vector<Op> given, results;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!has[i] && i < inputs && c.settings.random_different)
        given.push_back(Repeated(l, operands[i].op, c.size));
      else if (!has[i]) given.push_back(operands[i].op);
      else if (i < inputs) given.push_back(MovedDim(l, operands[i].op, 0, 1));
      else given.push_back(WithBatch(l, operands[i], c.size));
    }
    for (size_t i = 0; i < made.outputs.size(); ++i) {
      const bool widened = i >= outputs && has[inputs + i - outputs];
      results.push_back(widened ? WithBatch(made.inner, made.outputs[i], c.size) : made.outputs[i].op);
    }
    const Op batched = l.b.Add(hlo::kScan, given, attributes,
                               {CalleeOf("scan_body", made.scratch, made.parameters, results, false)});
    std::vector<Batched> all;
    for (size_t i = 0; i < results.size(); ++i) {
      const Op element = l.b.GetTupleElement(batched, static_cast<int64_t>(i));
      const bool with = i < outputs ? made.outputs[i].has_batch : has[inputs + i - outputs];
      all.push_back({i < outputs && with ? MovedDim(l, element, 1, 0) : element, with});
    }
    return all;
  }
  return {};
}

// Selects per example: x if `which`, pred[size], is true, otherwise y.
Batched ChosenPerExample(Lowering& l, Op which, const Batched& x, const Batched& y, int64_t size) {
  const Op on_true = WithBatch(l, x, size), on_false = WithBatch(l, y, size);
  return {l.b.Select(l.b.Broadcast(which, l.dims(on_true), {0}), on_true, on_false), true};
}

std::vector<Batched> Conditional(const ControlBatchArgs& c) {
  Lowering& l = c.l;
  const hlo::Instruction instruction = c.from[c.node];
  const std::vector<hlo::ComputationId> called(instruction.called().begin(), instruction.called().end());
  const std::vector<NodeId> operands(instruction.operands().begin(), instruction.operands().end());
  const Batched selector = c.value({operands[0]});
  if (selector.has_batch) {  // Computes all branches, then selects each example's own.
    std::vector<std::vector<Batched>> all;
    for (size_t b = 0; b < called.size(); ++b) {
      const CalleeBody body = BodyOf(called[b]);
      RefuseAxisCalls(body.computation, c.settings.axis_name, "a branch that only some examples take");
      all.push_back(
          Batch(l, body.computation, c.size, BatchedPrimals(c, operands[b + 1]), body.outputs, c.settings));
    }
    const bool two = l.type(selector.op) == hlo::kPred;
    std::vector<Batched> results = all.back();
    for (size_t b = called.size() - 1; b-- > 0;) {
      const Op which =
          two ? selector.op
              : l.b.Compare(selector.op, l.Full(l.type(selector.op), {c.size}, static_cast<int64_t>(b)),
                            hlo::ComparisonDirection::kEq);
      for (size_t i = 0; i < results.size(); ++i) {
        results[i] = ChosenPerExample(l, which, all[b][i], results[i], c.size);
      }
    }
    return results;
  }
  std::vector<std::unique_ptr<BatchedBody>> branches;
  std::vector<Op> given;
  std::vector<bool> has;
  for (size_t b = 0; b < called.size(); ++b) {
    const std::vector<Batched> values = BatchedPrimals(c, operands[b + 1]);
    BatchedBody& made = *branches.emplace_back(std::make_unique<BatchedBody>(l));
    BatchBody(c, BodyOf(called[b]), Flags(values), made);
    has.resize(made.outputs.size());
    for (size_t i = 0; i < has.size(); ++i) has[i] = has[i] || made.outputs[i].has_batch;
    std::vector<Op> ops;
    for (const Batched& value : values) ops.push_back(value.op);
    given.push_back(l.b.Tuple(ops));
  }
  std::vector<hlo::ComputationId> callees;
  for (const auto& made : branches) {
    std::vector<Op> results;
    for (size_t i = 0; i < has.size(); ++i) {
      results.push_back(has[i] ? WithBatch(made->inner, made->outputs[i], c.size) : made->outputs[i].op);
    }
    callees.push_back(CalleeOf("branch", made->scratch, made->parameters, results, true));
  }
  const Op result = l.b.Conditional(selector.op, given, callees);
  std::vector<Batched> all;
  for (size_t i = 0; i < has.size(); ++i) {
    all.push_back({l.b.GetTupleElement(result, static_cast<int64_t>(i)), has[i]});
  }
  return all;
}

std::vector<Batched> While(const ControlBatchArgs& c) {
  Lowering& l = c.l;
  const hlo::Instruction loop = c.from[c.node];
  const CalleeBody body = BodyOf(loop.called()[0]), condition = BodyOf(loop.called()[1]);
  for (NodeId node = 0; c.settings.random_different && node < body.computation.size(); ++node) {
    if (body.computation[node].opcode() != hlo::kRngBitGenerator) continue;
    Refuse("a loop of unknown length draws random numbers, which cannot differ between examples");
  }
  const std::vector<Batched> init = BatchedPrimals(c, loop.operands()[0]);
  std::vector<bool> has = Flags(init);
  for (;;) {
    BatchedBody test(l), step(l);
    BatchBody(c, condition, has, test);
    BatchBody(c, body, has, step);
    const bool differs = test.outputs[0].has_batch;
    bool again = false;
    for (size_t i = 0; i < has.size(); ++i) {
      if (has[i] || !(differs || step.outputs[i].has_batch)) continue;
      has[i] = again = true;
    }
    if (again) continue;
    Op holds = test.outputs[0].op;
    std::vector<Op> results, given;
    if (differs) {
      const char* const where = "a loop that does not end for all examples at once";
      RefuseAxisCalls(body.computation, c.settings.axis_name, where);
      // The loop runs while any example continues; the state of an example that has ended does not change.
      holds = test.inner.Reduce(hlo::kOr, holds, {0});
      std::vector<Batched> state;
      for (size_t i = 0; i < has.size(); ++i) state.push_back({step.parameters[i], has[i]});
      const Op goes_on =
          Batch(step.inner, condition.computation, c.size, state, condition.outputs, c.settings)[0].op;
      for (size_t i = 0; i < has.size(); ++i) {
        step.outputs[i] = ChosenPerExample(step.inner, goes_on, step.outputs[i], state[i], c.size);
      }
    }
    for (size_t i = 0; i < has.size(); ++i) {
      results.push_back(has[i] ? WithBatch(step.inner, step.outputs[i], c.size) : step.outputs[i].op);
      given.push_back(has[i] ? WithBatch(l, init[i], c.size) : init[i].op);
    }
    const Op end = l.b.While(l.b.Tuple(given),
                             PlainCalleeOf("while_condition", test.scratch, test.parameters, holds, true),
                             CalleeOf("while_body", step.scratch, step.parameters, results, true));
    if (IsReversible(c.from, c.node)) MarkReversible(l.graph.mutable_notes(end.id));
    std::vector<Batched> all;
    for (size_t i = 0; i < has.size(); ++i) {
      all.push_back({l.b.GetTupleElement(end, static_cast<int64_t>(i)), has[i]});
    }
    return all;
  }
}

// Returns the callee with the batch dimension in all results, and in the parameters for which `has` is true.
// Results for which `summed` is true are summed over the examples.
hlo::ComputationId BatchedCallee(const ControlBatchArgs& c, const char* name, hlo::ComputationId id,
                                 const std::vector<bool>& has, const std::vector<bool>& summed) {
  BatchedBody made(c.l);
  BatchBody(c, BodyOf(id), has, made);
  std::vector<Op> results;
  for (size_t i = 0; i < made.outputs.size(); ++i) {
    results.push_back(WithBatch(made.inner, made.outputs[i], c.size));
    if (summed.empty() || !summed[i]) continue;
    results[i] = IsDifferentiable(made.inner.type(results[i]))
                     ? made.inner.Reduce(hlo::kAdd, results[i], {0})
                     : made.inner.Reduce(hlo::kMaximum, results[i], {0});
  }
  return CalleeOf(name, made.scratch, made.parameters, results, false);
}

// Batches a call with a custom rule, and the rule. The rule's cotangents of arguments that the examples share
// are summed over the examples.
std::vector<Batched> Custom(const ControlBatchArgs& c, CustomRule rule) {
  const hlo::Instruction call = c.from[c.node];
  std::vector<Op> operands;
  std::vector<bool> has;
  for (const NodeId operand : call.operands()) {
    const Batched value = c.value({operand});
    operands.push_back(value.op);
    has.push_back(value.has_batch);
  }
  const size_t elements = call.shape().tuple.size();
  const size_t results = rule.widened ? elements - rule.residuals : elements;
  const auto after_arguments = has.begin() + static_cast<ptrdiff_t>(rule.arguments);
  const hlo::ComputationId f = BatchedCallee(c, "custom", call.called()[0], has, {});
  if (rule.is_vjp) {
    rule.forward = BatchedCallee(c, "custom_forward", rule.forward, has, {});
    std::vector<bool> given(rule.residuals + results, true), summed(rule.arguments);
    given.insert(given.end(), after_arguments, has.end());
    for (size_t i = 0; i < rule.arguments; ++i) summed[i] = !has[i];
    rule.backward = BatchedCallee(c, "custom_backward", rule.backward, given, summed);
  } else {
    std::vector<bool> given = has;
    given.insert(given.end(), has.begin(), after_arguments);
    rule.forward = BatchedCallee(c, "custom_jvp", rule.forward, given, {});
  }
  const Op batched = c.l.b.Add(hlo::kCall, operands, hlo::CallAttributes{true}, {f});
  SetCustomRule(c.l.graph.mutable_notes(batched.id), rule);
  std::vector<Batched> all;
  for (const Op element : ElementsOf(c.l, batched, 0, elements)) all.push_back({element, true});
  return all;
}

// Replaces a plain call by the batched instructions of its callee; a checkpoint remains a call.
std::vector<Batched> Call(const ControlBatchArgs& c) {
  if (const auto rule = CustomRuleOf(c.from, c.node)) return Custom(c, *rule);
  const hlo::Instruction call = c.from[c.node];
  const bool checkpoint = call.attributes<hlo::CallAttributes>().is_composite;
  const CalleeBody body = BodyOf(call.called()[0]);
  std::vector<Batched> values;
  for (const NodeId operand : call.operands()) {
    for (const Batched& value : BatchedPrimals(c, operand)) values.push_back(value);
  }
  if (!checkpoint) {
    return Batch(c.l, body.computation, c.size, values, body.outputs, c.settings);
  }
  BatchedBody made(c.l);
  BatchBody(c, body, Flags(values), made);
  std::vector<Op> operands, results;
  for (const Batched& value : values) operands.push_back(value.op);
  for (const Batched& output : made.outputs) results.push_back(output.op);
  const Op batched = c.l.b.Add(hlo::kCall, operands, hlo::CallAttributes{true},
                               {CalleeOf("checkpoint", made.scratch, made.parameters, results, false)});
  SetKept(c.l.graph.mutable_notes(batched.id), KeptOf(c.from, c.node));
  std::vector<Batched> all;
  for (size_t i = 0; i < results.size(); ++i) {
    all.push_back({c.l.b.GetTupleElement(batched, static_cast<int64_t>(i)), made.outputs[i].has_batch});
  }
  return all;
}

// LAPACK's routines accept any number of leading batch dimensions.
std::vector<Batched> Routine(const ControlBatchArgs& c) {
  const hlo::Instruction call = c.from[c.node];
  std::vector<Op> operands;
  for (const NodeId operand : call.operands()) operands.push_back(WithBatch(c.l, c.value({operand}), c.size));
  const hlo::ComputationId body =
      BatchedCallee(c, "routine", call.called()[0], std::vector<bool>(operands.size(), true), {});
  std::vector<Batched> all;
  for (const Op result : CallRoutineLike(c.l, call, operands, body)) all.push_back({result, true});
  return all;
}

}  // namespace

ControlBatchRule ControlBatchRuleOf(const hlo::Instruction& instruction) {
  if (IsRoutine(instruction)) return Routine;
  switch (instruction.opcode()) {
    case hlo::kScan: return Scan;
    case hlo::kWhile: return While;
    case hlo::kConditional: return Conditional;
    case hlo::kCall: return Call;
    default: return nullptr;
  }
}

}  // namespace hlod::lazy
