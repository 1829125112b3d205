// Calling an operation.
#include "client/tensor/apply.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "client/tensor/autocast.h"
#include "client/tensor/close.h"
#include "client/tensor/function_trace.h"
#include "client/tensor/host.h"
#include "client/tensor/lock.h"
#include "client/tensor/placeholder.h"
#include "client/tensor/promotion.h"
#include "client/tensor/runtime.h"
#include "client/tensor/settings.h"
#include "client/tensor/tape.h"
#include "client/tensor/thread_trace.h"
#include "client/tensor/throw.h"
#include "common/base/strings.h"

namespace hlod::lazy {
namespace {

using OperandSpan = absl::Span<const Operand>;

const Caller& CallerOf(OperandSpan operands) {
  static constexpr Caller kUnknown;
  return operands.empty() ? kUnknown : operands[0].caller();
}

// "f32[2,3] on hlod:0, 2.5, f32[4] on host".
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

// An operand on the way into a graph.
struct Bound {
  TensorImpl* tensor = nullptr;   // Null: a number.
  Ref<Value> copy;                // A host tensor's copy on the device.
  bool is_number_tensor = false;  // A host tensor of one element among device tensors.
};

// As many as most operations take, without an allocation.
using BoundOperands = absl::InlinedVector<Bound, 3>;
using LoweredOperands = absl::InlinedVector<Op, 4>;

// The device of an operation: that of its tensors, when they agree; else what the settings say.
Place PlaceOf(OperandSpan operands) {
  Place place;
  const Operand* first = nullptr;
  for (const Operand& operand : operands) {
    if (operand.tensor() == nullptr) continue;
    if (!operand.tensor()->defined()) Refuse("an argument is an undefined tensor");
    const Place other = operand.tensor()->impl()->value().place;
    if (other.is_host()) continue;
    if (first != nullptr && !(other == place)) {
      Refuse("argument %d is on %s, argument %d on %s: copy one with To()", first - operands.data(),
             DeviceOf(place).ToString(), &operand - operands.data(), DeviceOf(other).ToString());
    }
    if (first == nullptr) first = &operand;
    place = other;
  }
  return place;
}

// What must be fetched before an operation can be recorded. The lock is not held meanwhile: a file or a
// connection may be slow.
struct Missing {
  Ref<Value> file;  // A value whose bytes are in a file.
  // A host tensor that meets device tensors: its copy there, of what it shows at `version`.
  TensorImpl* tensor = nullptr;
  Ref<Value> shown;
  uint64_t version = 0;
  size_t index = 0;  // Among the operands.
};

void UploadMissing(const Operation& operation, const Caller& caller, const Missing& missing, Place place) {
  const Value& shown = *missing.shown;
  absl::StatusOr<Buffer> buffer = DeviceOf(place).Upload(*shown.literal, Cause::kImplicitUpload, caller);
  if (!buffer.ok()) throw Refusal{buffer.status()};
  if (Current().mixed_devices == MixedDevices::kWarn) {
    std::fprintf(stderr, "hlod: %s (%s) copies argument %zu, %s, from the host to %s\n", operation.pytorch,
                 LineText(caller).c_str(), missing.index, ShapeText(shown).c_str(),
                 DeviceOf(place).ToString().c_str());
  }
  const TraceLock lock;
  ++Stats().implicit_copies;
  Stats().implicit_copy_bytes += buffer->byte_size();
  auto copy = MakeRef<Value>(shown.type, shown.dims, place, caller);
  copy->Become(*std::move(buffer));
  TensorImpl& tensor = *missing.tensor;
  tensor.copy = std::move(copy);
  tensor.copy_place = place;
  tensor.copy_version = missing.version;
}

// The operands as an operation on `place` takes them, or what is missing for it. A host tensor's copy on the
// device is kept as long as the tensor is not written; where others may write to its bytes, only for the call
// that has made it: `copied` are those operands.
BoundOperands Bind(const Operation& operation, OperandSpan operands, Place place,
                   absl::Span<const size_t> copied, std::optional<Missing>& missing) {
  BoundOperands bound(operands.size());
  for (size_t i = 0; i < operands.size() && !missing; ++i) {
    if (operands[i].tensor() == nullptr) continue;
    TensorImpl& tensor = *operands[i].tensor()->impl();
    bound[i].tensor = &tensor;
    if (tensor.value().state == Value::State::kFile) missing = Missing{.file = tensor.storage->value};
    if (place.is_host() || !tensor.value().place.is_host() || missing) continue;
    if (tensor.value().IsPlaceholder())
      Refuse("argument %d is a placeholder of the host: make it on the device", i);
    if (Current().scalar_host_tensors && Count(tensor.view.dims) == 1) {
      bound[i].is_number_tensor = true;
      continue;
    }
    if (Current().mixed_devices == MixedDevices::kError) {
      Refuse("argument %d is on the host and others are on %s: copy it with To(), or set mixed_devices", i,
             DeviceOf(place).ToString());
    }
    const bool fresh = tensor.copy_version == tensor.storage->version &&
                       (!tensor.storage->exposed || std::count(copied.begin(), copied.end(), i) != 0);
    if (tensor.copy && tensor.copy_place == place && fresh) {
      bound[i].copy = tensor.copy;
      continue;
    }
    const Ref<Value> shown = ShownValue(tensor, operation.pytorch, CallerOf(operands));
    MakeBytes(*shown);
    missing = Missing{.tensor = &tensor, .shown = shown, .version = tensor.storage->version, .index = i};
  }
  return bound;
}

// Whether it depends on a placeholder, as far as its graph says.
bool IsAbstract(const Value& value) {
  return value.IsPlaceholder() ||
         (value.state == Value::State::kNode && value.graph->kind == Graph::Kind::kAbstract);
}

Graph& GraphFor(Place place, const BoundOperands& bound) {
  ThreadTrace& trace = ThreadTrace::Get();
  if (place.is_host()) {
    for (const Bound& operand : bound) {
      if (operand.tensor == nullptr || !FunctionTrace::IsInside(*operand.tensor)) continue;
      if (Graph* const function = FunctionTrace::GraphAt(place); function != nullptr) return *function;
    }
    for (size_t i = 0; i < bound.size(); ++i) {
      if (bound[i].tensor != nullptr && IsAbstract(bound[i].tensor->value())) {
        return trace.Open(place, Graph::Kind::kAbstract);
      }
    }
    return trace.Open(place, Graph::Kind::kHost);
  }
  if (place.runtime->ended()) throw Refusal{EndedError()};
  for (const Bound& operand : bound) {
    if (operand.tensor != nullptr && IsAbstract(operand.tensor->value())) {
      Graph& graph = trace.Open(place, Graph::Kind::kAbstract);
      if (graph.size() > Current().placeholder_nodes_max) {
        Refuse("more than placeholder_nodes_max (%d) instructions depend on placeholders",
               Current().placeholder_nodes_max);
      }
      return graph;
    }
  }
  return trace.Open(place, Graph::Kind::kReal);
}

PrimitiveType Promote(const Operation& operation, OperandSpan operands, const BoundOperands& bound) {
  // Tensors of one floating type, as almost always, need no lattice.
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
      const bool flat = bound[i].tensor->view.dims.empty();
      promoted.push_back(
          {bound[i].tensor->type(), flat ? Promoted::Rank::kZeroDimensional : Promoted::Rank::kTensor});
    }
  }
  const PrimitiveType common = ResultType(promoted);
  const bool exact = common == hlo::kPred || hlo::IsInteger(common);
  if (operation.promotion == Promotion::kFloat && exact) return hlo::kF32;
  if (operation.promotion == Promotion::kNumeric && common == hlo::kPred) return hlo::kS64;
  return common;
}

// What an operation is to be remembered by, for Backward().
struct Taping {
  bool on = false;
  NodeId first = 0;                          // Its nodes begin here.
  absl::InlinedVector<TapeInput, 3> inputs;  // Its operands that are tensors.
  absl::InlinedVector<std::pair<Value*, NodeId>, 2> results;
};

bool NeedsTape(const BoundOperands& bound) {
  if (!GradMode()) return false;
  for (const Bound& operand : bound) {
    if (operand.tensor != nullptr && RequiresGrad(*operand.tensor)) return true;
  }
  return false;
}

// An operand of a remembered operation. Two operands that are one node and yet not one tensor (one is
// detached, or a copy) become two nodes, so that each has its own gradient.
Op Taped(Taping& taping, Lowering& lowering, TensorImpl& tensor, Op op) {
  TapeInput input = MakeTapeInput(tensor, op.id);
  for (const TapeInput& other : taping.inputs) {
    if (other.node != op.id || (other.value_id == input.value_id && other.wanted == input.wanted &&
                                other.leaf.get() == input.leaf.get())) {
      continue;
    }
    op = lowering.b.Unary(hlo::kCopy, op);
    input.node = op.id;
    break;
  }
  taping.inputs.push_back(std::move(input));
  return op;
}

// Remembers what was recorded since `taping` began.
void Remember(Taping& taping, const Operation& operation, Graph& graph, const Caller& caller) {
  auto entry = MakeRef<TapeEntry>(operation.pytorch, caller);
  for (const auto& [value, node] : taping.results) {
    if (!hlo::IsFloat(value->type) && !hlo::IsComplex(value->type)) continue;
    value->history = entry;
    value->history_output = static_cast<uint32_t>(entry->outputs.size());
    entry->outputs.push_back(node);
    entry->output_shapes.push_back(value->shape());
  }
  if (entry->outputs.empty()) return;
  entry->inputs.assign(std::make_move_iterator(taping.inputs.begin()),
                       std::make_move_iterator(taping.inputs.end()));
  entry->first = taping.first;
  entry->limit = graph.size();
  entry->ForgetUnneeded(graph);
  graph.AddTape(*entry);
}

// The operands as instructions of `graph`.
LoweredOperands Lowered(const Operation& operation, OperandSpan operands, const BoundOperands& bound,
                        Lowering& lowering, Taping& taping) {
  Graph& graph = lowering.graph;
  PrimitiveType common = hlo::kInvalid, first = hlo::kInvalid;
  if (operation.promotion != Promotion::kNone) common = Promote(operation, operands, bound);
  for (const Bound& operand : bound) {
    if (first == hlo::kInvalid && operand.tensor != nullptr) first = operand.tensor->type();
  }
  LoweredOperands ops;
  for (size_t i = 0; i < operands.size(); ++i) {
    Op op;
    if (taping.on && (bound[i].copy || bound[i].is_number_tensor) && RequiresGrad(*bound[i].tensor)) {
      Refuse("argument %d is on the host and requires gradients, which do not find back: copy it with To()",
             i);
    }
    if (bound[i].tensor == nullptr) {
      const Scalar& number = operands[i].scalar();
      const PrimitiveType type = common != hlo::kInvalid  ? common
                                 : first != hlo::kInvalid ? first
                                                          : NumberType(number);
      const bool parameter =
          graph.kind != Graph::Kind::kHost && Tracer::Get().IsParameter(operands[i].caller(), number);
      op = parameter ? graph.op(graph.NumberParameter(NumberLiteral(type, number)))
                     : lowering.Number(type, number);
    } else if (bound[i].copy) {
      op = graph.op(graph.NodeOf(*bound[i].copy));
    } else if (bound[i].is_number_tensor) {
      const Ref<Value> shown = ShownValue(*bound[i].tensor, operation.pytorch, CallerOf(operands));
      MakeBytes(*shown);
      op = graph.op(graph.NumberParameter(*shown->literal));
    } else {
      op = graph.op(NodeOf(graph, *bound[i].tensor));
      if (taping.on) op = Taped(taping, lowering, *bound[i].tensor, op);
    }
    ops.push_back(common == hlo::kInvalid ? op : lowering.Convert(op, common));
  }
  return ops;
}

Ref<Value> MakeValue(Graph& graph, Op result, const Caller& caller) {
  const Shape& shape = graph.builder().shape(result);
  return MakeRef<Value>(shape.type, shape.dims, graph.place, caller);
}

// What is computed in a NoGrad scope inside a function: the function's transforms see no way through it.
Op Stopped(Graph& graph, Op result) {
  if (graph.kind != Graph::Kind::kFunction || GradMode()) return result;
  Lowering lowering{graph};
  const PrimitiveType type = lowering.type(result);
  return hlo::IsFloat(type) || hlo::IsComplex(type) ? StopGradient(lowering, result) : result;
}

// What `lower` appended, as a value of its own.
Tensor MakeResult(Graph& graph, Op result, const Caller& caller, Taping& taping) {
  result = Stopped(graph, result);
  Ref<Value> value = MakeValue(graph, result, caller);
  if (taping.on) taping.results.emplace_back(value.get(), result.id);
  if (graph.kind == Graph::Kind::kHost) value->Become(std::move(Evaluate(graph, {result.id})[0]));
  else graph.AddLive(*value, result.id);
  return MakeTensor(std::move(value));
}

std::vector<Tensor> MakeResults(Graph& graph, absl::Span<const Op> results, const Caller& caller,
                                Taping& taping) {
  std::vector<Tensor> tensors;
  if (graph.kind != Graph::Kind::kHost) {
    for (const Op result : results) tensors.push_back(MakeResult(graph, result, caller, taping));
    return tensors;
  }
  if (results.empty()) return tensors;
  std::vector<NodeId> nodes;  // Evaluated together, so that what they share is computed once.
  for (const Op result : results) nodes.push_back(result.id);
  std::vector<std::shared_ptr<const Literal>> literals = Evaluate(graph, nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    Ref<Value> value = MakeValue(graph, results[i], caller);
    value->Become(std::move(literals[i]));
    if (taping.on) taping.results.emplace_back(value.get(), nodes[i]);
    tensors.push_back(MakeTensor(std::move(value)));
  }
  return tensors;
}

using Body = absl::FunctionRef<void(Lowering&, absl::Span<const Op>, Taping&)>;

// Runs `body` with the operands as instructions, and closes the trace when it has become too long. `garbage`
// is let go of after the lock.
void RecordIn(Graph& graph, const Operation& operation, OperandSpan operands, const BoundOperands& bound,
              Body body, std::vector<Parameter>& garbage) {
  // What nobody refers to is not run: a graph of nothing else begins again.
  if (graph.size() > 0 && !graph.has_live() && graph.kind != Graph::Kind::kFunction) garbage = graph.Clear();
  // Host operations are evaluated one at a time: nothing stays open.
  const absl::Cleanup clear = [&] {
    static_cast<void>(graph.builder().TakeStatus());
    if (graph.kind == Graph::Kind::kHost) garbage = graph.Clear();
  };
  graph.SetOrigin(CallerOf(operands), operation.pytorch);
  Lowering lowering{graph};
  Taping taping;
  taping.on = NeedsTape(bound);
  taping.first = graph.size();
  const LoweredOperands ops = Lowered(operation, operands, bound, lowering, taping);
  body(lowering, ops, taping);
  if (taping.on) Remember(taping, operation, graph, CallerOf(operands));
  if (graph.kind != Graph::Kind::kHost) ++Stats().operations;
  if (graph.kind == Graph::Kind::kReal && graph.size() > Current().trace_nodes_max) {
    garbage = Close(graph, TraceCause::kLimit, CallerOf(operands));
  }
}

void Record(const Operation& operation, OperandSpan operands, Body body) {
  std::vector<Parameter> garbage;
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
      if (missing->file) {
        LoadFile(missing->file);
      } else {
        UploadMissing(operation, CallerOf(operands), *missing, place);
        copied.push_back(missing->index);
      }
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
  if (!target.leaf || !GradMode()) return;
  Refuse("a %s that requires gradients is updated in place; do it in a NoGrad scope, or Detach() it first",
         target.is_view() ? "view of a tensor" : "tensor");
}

}  // namespace

Tensor& CallInPlace(const Operation& operation, Tensor& target, OperandSpan operands, LowerOne lower) {
  Record(operation, operands, [&](Lowering& lowering, absl::Span<const Op> ops, Taping& taping) {
    TensorImpl& impl = *target.impl();
    CheckUpdate(impl);
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
    if (lowering.dims(made) != impl.view.dims) {
      Refuse("the result's shape %s is not the shape %s of the tensor that is updated in place",
             ListText(lowering.dims(made)), ListText(impl.view.dims));
    }
    made = Stopped(lowering.graph, lowering.Convert(made, impl.type()));
    CheckBuilt(lowering);
    if (taping.on && impl.is_view()) {  // The rest of the base goes into the new value, too.
      TapeInput base = MakeTapeInput(impl, lowering.graph.NodeOf(impl.value()));
      base.view = WholeView(impl.value().dims);
      taping.inputs.push_back(std::move(base));
    }
    const NodeId written = Write(lowering.graph, impl, made.id, CallerOf(operands));
    if (taping.on) taping.results.emplace_back(&impl.value(), written);
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
      value->state = Value::State::kRecipe;
      value->recipe = std::move(recipe);
    } else {
      if (!place.is_host() && place.runtime->ended()) throw Refusal{EndedError()};
      Graph& graph = ThreadTrace::Get().Open(place, Graph::Kind::kReal);
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
