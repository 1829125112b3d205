// Custom-calls of LAPACK's routines in a trace.
#include "client/tensor/ops/linalg/routine.h"

#include <limits>
#include <utility>

#include "client/tensor/function/function.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "common/hlo/instruction_cloner.h"
#include "common/lapack/call.h"
#include "common/lapack/target.h"

namespace hlod::lazy {
namespace {

constexpr int32_t kTypedFfi = 4;  // JAX's CustomCallApiVersion for typed FFI calls.

// Makes a callee that computes `outputs` from the parameters of a scratch trace.
hlo::ComputationId CalleeOfRoutine(const std::string& name, const Trace& scratch,
                                   absl::Span<const NodeId> parameters, absl::Span<const NodeId> outputs) {
  const Function function = Extract(scratch, parameters, outputs);
  hlo::Computation callee(TraceTables::Get().tables(), name);
  const hlo::Computation& from = *function.computation;
  hlo::InstructionCloner(from, callee).CloneAll();
  std::vector<Shape> shapes;
  for (const NodeId output : function.outputs) shapes.push_back(from[output].shape());
  const hlo::ShapeId tuple = callee.tables().Intern(Shape::Tuple(std::move(shapes)));
  callee.set_root(callee.Append(hlo::kTuple, tuple, 0, function.outputs));
  return TraceTables::Get().Callee(callee);
}

std::vector<Op> Add(Lowering& l, hlo::CustomCallAttributes attributes, absl::Span<const Op> operands,
                    hlo::ComputationId body) {
  const Shape shape = TraceTables::Get().callees().computation(body).root().shape();
  const Op call = l.b.Add(hlo::kCustomCall, operands, std::move(attributes), {body}, &shape);
  std::vector<Op> results;
  for (size_t i = 0; i < shape.tuple.size(); ++i)
    results.push_back(l.b.GetTupleElement(call, static_cast<int64_t>(i)));
  return results;
}

std::vector<Op> NanWhere(Lowering& l, Op pred, std::vector<Op> results) {
  for (Op& result : results) {
    const Op nan = l.Full(l.type(result), l.dims(result), std::numeric_limits<double>::quiet_NaN());
    result = l.b.Select(l.b.Broadcast(pred, l.dims(result), {0}), nan, result);
  }
  return results;
}

}  // namespace

bool HasRoutines(PrimitiveType type) { return lapack::TypeIndex(type).has_value(); }

std::vector<Op> KeepingNan(Lowering& l, Op x, std::vector<Op> results) {
  return NanWhere(l, l.Reduce(hlo::kOr, NanOps(l, x), {1, 2}), std::move(results));
}

std::vector<Op> NanWhereFailed(Lowering& l, Op info, std::vector<Op> results) {
  return NanWhere(l, CompareOps(l, info, 0, Order::kNe), std::move(results));
}

std::string RoutineTarget(std::string_view routine, PrimitiveType type) {
  return lapack::TargetName(routine, type);
}

std::vector<Op> CallRoutine(Lowering& l, const std::string& target, std::string_view config,
                            std::vector<Op> x,
                            absl::FunctionRef<std::vector<Op>(Lowering&, absl::Span<const Op>)> body) {
  Trace scratch(l.graph.place, Trace::Kind::kFunction);
  Lowering inner{scratch};
  std::vector<Op> operands;
  std::vector<NodeId> parameters, outputs;
  for (const Op op : x) {
    operands.push_back(scratch.op(scratch.ArgumentParameter(l.shape(op))));
    parameters.push_back(operands.back().id);
  }
  for (const Op output : body(inner, operands)) outputs.push_back(output.id);
  if (!inner.b.status().ok()) throw Refusal{inner.b.status()};
  return Add(l, {.target = target, .backend_config = std::string(config), .api_version = kTypedFfi}, x,
             CalleeOfRoutine(target, scratch, parameters, outputs));
}

bool IsRoutine(const hlo::Instruction& instruction) {
  return instruction.opcode() == hlo::kCustomCall && instruction.called().size() == 1 &&
         lapack::IsTarget(instruction.attributes<hlo::CustomCallAttributes>().target);
}

std::vector<Op> CallRoutineLike(Lowering& l, const hlo::Instruction& like, absl::Span<const Op> operands,
                                hlo::ComputationId body) {
  return Add(l, like.attributes<hlo::CustomCallAttributes>(), operands, body);
}

}  // namespace hlod::lazy
