// The steps of an operation from its call to the trace.
//
// A public operation (ops/) names its row of the table, its operands and a lowering, and calls Call(). Then:
//
// 1. The shortcut. CallByShape(), for lowerings that depend on shapes alone, first asks RecordCached()
//    (trace/record_cached.h) to append the instruction that the same call recorded before. It declines when a
//    step below has something to do: a host tensor, a number, a view, a gradient, autocast, a function that
//    is traced, a full trace.
// 2. Autocast. In an enabled region the operands are replaced by casts of them, as autocast.inc says for the
//    operation. A cast is an operation of its own, with these same steps. An update in place is not cast.
// 3. Place. The tensors decide where the operation is computed: on their device, or on the host when all are
//    there. Tensors on two devices are refused: the program must write such a copy itself.
// 4. Bind. A host tensor that meets device tensors becomes a number when it has one element. Otherwise it is
//    refused or copied, as the setting mixed_devices says. An upload, or the read of a file, may be slow and
//    is done without TraceLock (Fetch), after which binding begins anew. The tensor keeps its copy until it
//    is written to.
// 5. Trace. The thread's real trace of that device is taken, the one of what depends on placeholders when an
//    operand does, the trace of the function that is being traced there, or one that is evaluated at once for
//    the host (GraphFor). A trace that no tensor refers to any more is cleared first: it will never run.
// 6. Operands. A type that PyTorch does not accept for the operation is refused (CheckAccepted). Each operand
//    becomes a node: data a parameter, a view the steps that it takes, a number a constant or a parameter
//    (TraceTables::IsParameter). Nodes are converted to the type that promotion finds.
// 7. Record. The lowering appends its instructions. A Refusal, here or before, becomes an Error with the
//    operation's name, its arguments and the line (Explain). Instructions that were appended before it stay
//    as dead code: no value refers to them.
// 8. Result. The last node becomes a value of the trace, which is an output of it while a tensor refers to
//    it. On the host it is evaluated. An update in place gives the value to the target's storage instead
//    (CallInPlace).
// 9. Tape. When an operand requires a gradient, an entry remembers the operands, the range of nodes from step
//    6 to here, and the results, for Backward() (autograd/taping.h). Values that the gradient does not need
//    are let go.
// 10. Close when full. A real trace of too many instructions or numbers is closed at once (trace/close.cc).
//    All that steps 5 to 10 drop is destroyed after the lock is released.
//
// An example: `Tensor z = x * y;` at model.cc:12, where x is f32[2,3], data on hlod:0, and requires a
// gradient, and y is bf16[3] on the host. mixed_devices is implicit. The shortcut declines, because of the
// gradient. The place is hlod:0. Binding finds that y is missing there; its 6 bytes are uploaded, and the
// second binding finds the copy. In an empty trace this is recorded for "mul" at model.cc:12:
//
//   %0 = f32[2,3] parameter(0)               # x
//   %1 = bf16[3]  parameter(1)               # y's copy
//   %2 = f32[3]   convert(%1)                # the common type of f32 and bf16 is f32
//   %3 = f32[2,3] broadcast(%2), dims={1}    # from here on the lowering of Mul
//   %4 = f32[2,3] multiply(%0, %3)           # z: live
//
// The tape has an entry "mul" with the input x at %0, the nodes 0 to 4 and the output %4. The gradient of x
// is that of z times %3, which needs y and not x: the entry does not keep the value of x.
#include "client/tensor/dispatch/apply.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "client/tensor/autograd/taping.h"
#include "client/tensor/dispatch/accepted_indices.h"
#include "client/tensor/dispatch/autocast.h"
#include "client/tensor/dispatch/bind.h"
#include "client/tensor/dispatch/promotion.h"
#include "client/tensor/dispatch/settings.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/trace/close_event.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/placeholder.h"
#include "client/tensor/trace/record_cached.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/host.h"
#include "client/tensor/value/overlap.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

// Returns "f32[2,3], 2.5, an undefined tensor".
std::string ArgumentsText(OperandSpan operands) {
  std::string text;
  for (const Operand& operand : operands) {
    absl::StrAppend(&text, text.empty() ? "" : ", ");
    if (operand.tensor() == nullptr) absl::StrAppend(&text, operand.scalar().ToDouble());
    else if (!operand.tensor()->defined()) absl::StrAppend(&text, "an undefined tensor");
    else absl::StrAppend(&text, hlo::ToStringNoLayout(operand.tensor()->shape()));
  }
  return text;
}

absl::Status WithArguments(const absl::Status& status, OperandSpan operands) {
  ErrorDetails details = ErrorOf(status);
  details.text = std::string(status.message());
  if (!operands.empty()) absl::StrAppend(&details.text, "; arguments: ", ArgumentsText(operands));
  return ToStatus(std::move(details));
}
using LoweredOperands = absl::InlinedVector<Op, 4>;

PrimitiveType CommonType(OperandSpan operands, const BoundOperands& bound) {
  // Tensors of the same floating type, the common case, need no promotion.
  const auto same = [&](const Bound& operand) {
    return operand.tensor != nullptr && operand.tensor->type() == bound[0].tensor->type();
  };
  if (bound[0].tensor != nullptr && hlo::IsFloat(bound[0].tensor->type()) &&
      std::all_of(bound.begin(), bound.end(), same)) {
    return bound[0].tensor->type();
  }
  absl::InlinedVector<Promoted, 4> promoted;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (bound[i].tensor == nullptr) {
      promoted.push_back({NumberType(operands[i].scalar()), Promoted::Rank::kNumber});
    } else {
      const bool flat = bound[i].tensor->dims().empty();
      promoted.push_back(
          {bound[i].tensor->type(), flat ? Promoted::Rank::kZeroDimensional : Promoted::Rank::kTensor});
    }
  }
  return ResultType(promoted);
}

// Returns the type that all operands are converted to; kInvalid when each keeps its own. Refuses types that
// the operation does not accept.
PrimitiveType Promote(const Operation& operation, OperandSpan operands, const BoundOperands& bound,
                      PrimitiveType first) {
  if (operation.promotion == Promotion::kNone) {
    if (first != hlo::kInvalid) CheckAccepted(operation, first);
    for (size_t i = 0; i < bound.size(); ++i) {
      const TensorImpl* const tensor = bound[i].tensor;
      if (tensor != nullptr)
        CheckIndexType(operation.pytorch, i, tensor->type(), std::ranges::count(tensor->dims(), 0) > 0);
    }
    return hlo::kInvalid;
  }
  if (operation.accepted.one_type) {
    absl::InlinedVector<PrimitiveType, 4> types;
    for (const Bound& operand : bound) {
      if (operand.tensor != nullptr) types.push_back(operand.tensor->type());
    }
    CheckOneType(operation, types);
  }
  const PrimitiveType common = CommonType(operands, bound);
  CheckAccepted(operation, common);
  const bool exact = common == hlo::kPred || hlo::IsInteger(common);
  if (operation.promotion == Promotion::kFloat && exact) return hlo::kF32;
  if (operation.promotion == Promotion::kNumeric && common == hlo::kPred) return hlo::kS64;
  return common;
}

// Appends the operands to the trace, promoted as the operation requires, and returns their nodes.
LoweredOperands Lowered(const Operation& operation, OperandSpan operands, const BoundOperands& bound,
                        Lowering& lowering, Taping& taping) {
  Trace& graph = lowering.graph;
  PrimitiveType first = hlo::kInvalid;
  for (const Bound& operand : bound) {
    if (first == hlo::kInvalid && operand.tensor != nullptr) first = operand.tensor->type();
  }
  const PrimitiveType common = Promote(operation, operands, bound, first);
  LoweredOperands ops;
  for (size_t i = 0; i < operands.size(); ++i) {
    Op op;
    if (taping.on && (bound[i].copy || bound[i].is_number_tensor) && RequiresGrad(*bound[i].tensor)) {
      Refuse(
          "argument %d is on the host and requires gradients, which do not flow back through an implicit "
          "copy: copy it with To()",
          i);
    }
    if (bound[i].tensor == nullptr) {
      const Scalar& number = operands[i].scalar();
      const PrimitiveType type = common != hlo::kInvalid  ? common
                                 : first != hlo::kInvalid ? first
                                                          : NumberType(number);
      op = lowering.Number(type, number, operands[i].caller());
    } else if (bound[i].copy) {
      op = graph.op(graph.NodeOf(*bound[i].copy));
    } else if (bound[i].is_number_tensor) {
      const Ref<Value> shown = ShownValue(*bound[i].tensor, operation.pytorch, CallerOf(operands));
      Materialize(*shown);
      op = graph.op(graph.NumberParameter(*shown->literal()));
    } else {
      op = graph.op(NodeOf(graph, *bound[i].tensor));
      if (taping.on) op = TapeOperand(taping, lowering, *bound[i].tensor, op);
    }
    ops.push_back(common == hlo::kInvalid ? op : lowering.Convert(op, common));
  }
  return ops;
}

Ref<Value> MakeValue(Trace& graph, Op result, const Caller& caller) {
  const Shape& shape = graph.builder().shape(result);
  return MakeRef<Value>(shape.type, shape.dims, graph.place, caller);
}

// Marks a result computed in a NoGrad scope inside a function, so that the function's transforms do not
// differentiate through it.
Op Stopped(Trace& graph, Op result) {
  if (graph.kind != Trace::Kind::kFunction || GradMode()) return result;
  Lowering lowering{graph};
  const PrimitiveType type = lowering.type(result);
  return hlo::IsFloat(type) || hlo::IsComplex(type) ? StopGradient(lowering, result) : result;
}

// Returns a tensor, with a new value, for the instructions that `lower` appended.
Tensor MakeResult(Trace& graph, Op result, const Caller& caller, Taping& taping) {
  result = Stopped(graph, result);
  Ref<Value> value = MakeValue(graph, result, caller);
  if (taping.on) taping.results.push_back({value.get(), result.id});
  if (graph.kind == Trace::Kind::kHost) value->Become(std::move(Evaluate(graph, {result.id})[0]));
  else graph.AddLive(*value, result.id);
  return MakeTensor(std::move(value));
}

std::vector<Tensor> MakeResults(Trace& graph, absl::Span<const Op> results, const Caller& caller,
                                Taping& taping) {
  std::vector<Tensor> tensors;
  if (graph.kind != Trace::Kind::kHost) {
    for (const Op result : results) tensors.push_back(MakeResult(graph, result, caller, taping));
    return tensors;
  }
  if (results.empty()) return tensors;
  std::vector<NodeId> nodes;  // The nodes are evaluated together, so that shared parts are computed once.
  for (const Op result : results) nodes.push_back(result.id);
  std::vector<std::shared_ptr<const Literal>> literals = Evaluate(graph, nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    Ref<Value> value = MakeValue(graph, results[i], caller);
    value->Become(std::move(literals[i]));
    if (taping.on) taping.results.push_back({value.get(), nodes[i]});
    tensors.push_back(MakeTensor(std::move(value)));
  }
  return tensors;
}

using Body = absl::FunctionRef<void(Lowering&, absl::Span<const Op>, Taping&)>;

// Runs `body` with the operands as instructions, and closes the trace when it is full. `garbage` is destroyed
// after the lock is released.
void RecordIn(Trace& graph, const Operation& operation, OperandSpan operands, const BoundOperands& bound,
              Body body, std::vector<Parameter>& garbage) {
  // No tensor refers to the trace, so it is cleared instead of run.
  if (graph.size() > 0 && !graph.has_live() && graph.kind != Trace::Kind::kFunction) garbage = graph.Clear();
  // A host operation is evaluated separately: its trace does not stay open.
  const absl::Cleanup clear = [&] {
    static_cast<void>(graph.builder().TakeStatus());
    if (graph.kind == Trace::Kind::kHost) garbage = graph.Clear();
  };
  graph.SetOrigin(CallerOf(operands), operation.pytorch);
  Lowering lowering{graph};
  Taping taping;
  taping.on = NeedsTape(bound);
  taping.first = graph.size();
  const LoweredOperands ops = Lowered(operation, operands, bound, lowering, taping);
  body(lowering, ops, taping);
  if (taping.on) Remember(taping, operation, graph, CallerOf(operands));
  if (graph.kind != Trace::Kind::kHost) ++Stats().operations;
  if (graph.kind == Trace::Kind::kReal && IsFull(graph)) {
    garbage = Close(graph, TraceCause::kLimit, CallerOf(operands), operation.pytorch);
  }
}

void Record(const Operation& operation, OperandSpan operands, Body body) {
  const runtime::DeliverEventsAtExit events;
  std::vector<Parameter> garbage;
  const RecordingTime time;
  Explain(operation, operands, CallerOf(operands), [&] {
    absl::InlinedVector<size_t, 2> copied;
    while (true) {
      std::optional<Missing> missing;
      Place place;
      {
        const TraceLock lock;
        place = PlaceOf(operands);
        const BoundOperands bound = Bind(operation, operands, place, copied, missing);
        if (!missing) {
          RecordIn(GraphFor(place, bound), operation, operands, bound, body, garbage);
          return;
        }
      }
      Fetch(operation, CallerOf(operands), *missing, place);
      if (!missing->file) copied.push_back(missing->index);
    }
  });
}

OperandSpan Autocasted(const Operation& operation, OperandSpan operands, std::optional<CastOperands>& cast) {
  Explain(operation, operands, CallerOf(operands), [&] { cast.emplace(operation, operands); });
  return cast->get();
}

void CheckBuilt(Lowering& lowering) {
  if (!lowering.b.status().ok()) throw Refusal{lowering.b.TakeStatus()};
}

}  // namespace

void Explain(const Operation& operation, OperandSpan operands, const Caller& caller,
             absl::FunctionRef<void()> body) {
  try {
    body();
  } catch (const Refusal& refusal) {
    Throw(WithArguments(refusal.status, operands), operation.pytorch, caller);
  }
}

const Tensor& TensorOf(const Operation& operation, const Operand& x) {
  const bool missing = x.tensor() == nullptr || !x.tensor()->defined();
  if (missing) {
    Throw(ErrorKind::kArgument,
          x.tensor() == nullptr ? absl::StrCat("a tensor is needed, not the number ", x.scalar().ToDouble())
                                : std::string("an argument is an undefined tensor"),
          operation.pytorch, x.caller());
  }
  return *x.tensor();
}

std::vector<Operand> OperandsOf(const std::vector<Tensor>& tensors, const Caller& caller) {
  std::vector<Operand> operands;
  for (const Tensor& tensor : tensors) operands.emplace_back(tensor, caller);
  return operands;
}

Tensor Call(const Operation& operation, OperandSpan operands, LowerOne lower) {
  std::optional<CastOperands> cast;
  if (autocast_active) operands = Autocasted(operation, operands, cast);
  Tensor result;
  Record(operation, operands, [&](Lowering& lowering, absl::Span<const Op> ops, Taping& taping) {
    const Op made = lower(lowering, ops);
    CheckBuilt(lowering);
    result = MakeResult(lowering.graph, made, CallerOf(operands), taping);
  });
  return result;
}

OperandCopies Copies(std::initializer_list<const Operand*> operands) {
  OperandCopies copies;
  for (const Operand* const operand : operands) copies.push_back(*operand);
  return copies;
}

Tensor CallByShape(const Operation& operation, const void* lowering,
                   std::initializer_list<const Operand*> list, LowerOne lower) {
  if (Tensor again = RecordCached(operation, lowering, list); again.defined()) return again;
  const OperandCopies operands = Copies(list);
  return Call(operation, operands, [&](Lowering& l, Operands ops) {
    const uint32_t before = l.graph.size();
    const Op made = lower(l, ops);
    RememberRecorded(operation, lowering, ops, l.graph, before, made);
    return made;
  });
}

std::vector<Tensor> CallSeveral(const Operation& operation, OperandSpan operands, LowerSeveral lower) {
  std::optional<CastOperands> cast;
  if (autocast_active) operands = Autocasted(operation, operands, cast);
  std::vector<Tensor> results;
  Record(operation, operands, [&](Lowering& lowering, absl::Span<const Op> ops, Taping& taping) {
    const std::vector<Op> made = lower(lowering, ops);
    CheckBuilt(lowering);
    results = MakeResults(lowering.graph, made, CallerOf(operands), taping);
  });
  return results;
}

namespace {

void CheckUpdate(const TensorImpl& target) {
  if (!target.lineage || !GradMode()) return;
  if (target.lineage->made_without_grad) {
    Refuse(
        "a view that was made in a NoGrad scope, of a tensor that requires gradients, is updated in place "
        "outside of it");
  }
  if (!target.lineage->leaf) return;
  Refuse("a %s that requires gradients is updated in place; do it in a NoGrad scope, or Detach() it first",
         IsRoot(target) ? "tensor" : "view of a tensor");
}

}  // namespace

// Refuses overlapping operands, as PyTorch does, because an element's new value would depend on the order of
// writing.
void CheckOverlap(const TensorImpl& target, OperandSpan operands) {
  for (const Operand& operand : operands) {
    if (operand.tensor() == nullptr || !operand.tensor()->defined()) continue;
    const TensorImpl& other = *operand.tensor()->impl();
    if (&other == &target || other.storage.get() != target.storage.get()) continue;
    if (OverlapInPart(target.view(), other.view())) {
      Refuse(
          "some elements of an argument and of the tensor that is written to are the same; Clone() it first");
    }
  }
}

Tensor& CallInPlace(const Operation& operation, Tensor& target, OperandSpan operands, LowerOne lower) {
  Record(operation, operands, [&](Lowering& lowering, absl::Span<const Op> ops, Taping& taping) {
    TensorImpl& impl = *target.impl();
    CheckUpdate(impl);
    CheckOverlap(impl, operands);
    if (!(impl.value().place == lowering.graph.place)) {
      Refuse("the result is on %s and cannot replace a tensor on the host",
             DeviceOf(lowering.graph.place).ToString());
    }
    Op made = lower(lowering, ops);
    CheckBuilt(lowering);
    const PrimitiveType from = lowering.type(made);
    if (!CanCast(from, impl.type())) {
      Refuse("a result of type %s cannot be stored in place as %s", hlo::Name(from), hlo::Name(impl.type()));
    }
    if (lowering.dims(made) != impl.dims()) {
      Refuse("the result's shape %s is not the shape %s of the tensor that is updated in place",
             ListText(lowering.dims(made)), ListText(impl.dims()));
    }
    made = Stopped(lowering.graph, lowering.Convert(made, impl.type()));
    CheckBuilt(lowering);
    const bool keeps_rest = taping.on && !IsRoot(impl);
    if (keeps_rest) taping.inputs.push_back(MakeTapeInput(impl, 0));
    if (keeps_rest && impl.lineage && Overlaps(*impl.lineage->root)) {
      Refuse("a part of a detached tensor that repeats elements takes no gradients; Clone() it first");
    }
    const Written written = Write(lowering.graph, impl, made.id, CallerOf(operands));
    if (!taping.on) return;
    taping.in_place = true;
    if (keeps_rest) {  // The new value also contains the rest of the base.
      TapeInput& base = taping.inputs.back();
      base.node = written.before;
      base.view = base.root != nullptr ? *base.root : WholeView(impl.value().dims);
    }
    taping.results.push_back({&impl.value(), written.after, impl.lineage.get()});
  });
  return target;
}

Tensor Create(const Operation& operation, const Dims& dims, PrimitiveType type, const Device& device,
              Recipe recipe, const Caller& caller) {
  Tensor result;
  Explain(operation, {}, caller, [&] {
    if (absl::Status valid = hlo::ValidateShape(Shape::Array(type, dims)); !valid.ok()) throw Refusal{valid};
    const Place place = lazy::PlaceOf(device);
    auto value = MakeRef<Value>(type, dims, place, caller);
    const TraceLock lock;
    if (place.is_host() && FunctionTrace::GraphAt(place) == nullptr) {
      value->Become(std::move(recipe));
    } else {
      if (!place.is_host() && place.runtime->ended()) throw Refusal{EndedError()};
      Trace& graph = ThreadTraces::Get().Open(place, Trace::Kind::kReal);
      graph.SetOrigin(caller, operation.pytorch);
      Lowering lowering{graph};
      const Op made = recipe(lowering);
      CheckBuilt(lowering);
      graph.AddLive(*value, made.id);
      ++Stats().operations;
    }
    result = MakeTensor(std::move(value));
  });
  return result;
}

}  // namespace hlod::lazy
