// Makes and fills placeholders, and makes the errors of reading them.
#include "client/tensor/trace/placeholder.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/events.h"
#include "client/runtime/observe/metrics.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/count.h"
#include "common/base/text/strings.h"
#include "common/hlo/text/sharding.h"

namespace hlod::lazy {
namespace {

constexpr size_t kStepsShown = 12;  // The maximum number of path steps that an error shows.

std::string Describe(const Value& value) {
  return absl::StrCat("a placeholder ", ShapeText(value), ", tensor ", value.id, ", made at ",
                      LineText(value.origin));
}

// Returns "sum (model.cc:43) <- einsum (model.cc:41) <- a placeholder bf16[4,8], tensor 7, made at
// model.cc:39".
std::string Way(const Trace& graph, const std::vector<NodeId>& path) {
  std::vector<std::string> steps;
  const OriginRow* last = nullptr;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    // The instructions of one operation are one step of the path.
    const OriginRow& row = graph.origin(path[i]);
    if (&row == last) continue;
    last = &row;
    steps.push_back(absl::StrCat(row.operation, " (", LineText(row.caller), ")"));
  }
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > kStepsShown && i == kStepsShown / 2) {
      absl::StrAppend(&text, "... ", steps.size() - kStepsShown, " more ... <- ");
      i = steps.size() - kStepsShown / 2;
    }
    absl::StrAppend(&text, steps[i], " <- ");
  }
  return absl::StrCat(text, Describe(*graph.ParameterAt(path.back())->value));
}

absl::Status PlaceholderError(const Value& placeholder, std::string text) {
  ErrorDetails details;
  details.kind = ErrorKind::kPlaceholder;
  details.handle = placeholder.id;
  details.shape = ShapeText(placeholder);
  details.origin = {placeholder.origin.file, placeholder.origin.line, placeholder.origin.function};
  details.text = std::move(text);
  return ToStatus(std::move(details));
}

}  // namespace

std::vector<NodeId> PathToPlaceholder(const Trace& graph, NodeId root) {
  // Walks forwards and records, for each node that depends on a placeholder, the operand through which it
  // does.
  constexpr NodeId kNone = kNoNode, kItself = kNoNode - 1;
  std::vector<NodeId> towards(root + 1, kNone);
  for (NodeId node = 0; node <= root; ++node) {
    if (const Parameter* parameter = graph.ParameterAt(node); parameter != nullptr) {
      if (parameter->value && parameter->value->IsPlaceholder()) towards[node] = kItself;
      continue;
    }
    for (const NodeId operand : graph.computation()[node].operands()) {
      if (towards[operand] == kNone) continue;
      towards[node] = operand;
      break;
    }
  }
  std::vector<NodeId> path;
  if (towards[root] == kNone) return path;
  for (NodeId node = root;; node = towards[node]) {
    path.push_back(node);
    if (towards[node] == kItself) return path;
  }
}

void ThrowPlaceholder(const Value& value, const char* operation, const Caller& caller) {
  ++Stats().refused_reads;
  runtime::CountMetric(runtime::MetricCounter::kRefusedReads);
  Throw(PlaceholderError(value, absl::StrCat("the tensor has no value: it is ", Describe(value))), operation,
        caller);
}

void CheckNoPlaceholder(const Value& value, const char* operation, const Caller& caller) {
  const std::vector<NodeId> path = PathToPlaceholder(*value.graph(), value.node());
  if (path.empty()) return;
  ++Stats().refused_reads;
  runtime::CountMetric(runtime::MetricCounter::kRefusedReads);
  const Value& placeholder = *value.graph()->ParameterAt(path.back())->value;
  Throw(PlaceholderError(placeholder, absl::StrCat("the tensor has no value: ", Way(*value.graph(), path))),
        operation, caller);
}

void CheckLivePlaceholders(const Trace& graph, const Caller& caller) {
  std::string example;
  size_t count = 0;
  const Value* first = nullptr;
  for (const Value* value : graph.LiveInOrder()) {
    const std::vector<NodeId> path = PathToPlaceholder(graph, value->node());
    if (path.empty()) continue;
    if (count++ > 0) continue;
    first = graph.ParameterAt(path.back())->value.get();
    example = absl::StrCat(ShapeText(*value), ", tensor ", value->id, ": ", Way(graph, path));
  }
  if (count == 0) return;
  Throw(PlaceholderError(
            *first, absl::StrCat(CountText(static_cast<int64_t>(count), "tensor"),
                                 count == 1 ? " depends" : " depend",
                                 " on placeholders, which have no values, and cannot be computed",
                                 count == 1 ? "" : "; one of them", ": ", example,
                                 "\nTo learn what a step without values needs, run it with `hloctl check "
                                 "-- PROGRAM` or ConnectAbstract().")),
        "sync", caller);
}

absl::Status EndedError() {
  return MakeError(
      ErrorKind::kLostSession,
      "the tensor's environment has ended; keep the environment, or copy the tensor with ToHost() "
      "before it ends");
}

}  // namespace hlod::lazy

namespace hlod {

Tensor Placeholder(DimList dims, PrimitiveType type, const Device& device, bool requires_grad,
                   Caller caller) {
  const Shape shape = Shape::Array(type, dims);
  lazy::ThrowIfError(hlo::IsArrayType(type)
                         ? hlo::ValidateShape(shape)
                         : MakeError(ErrorKind::kArgument, "a placeholder's type is an array's element type"),
                     "placeholder", caller);
  auto value =
      lazy::MakeRef<lazy::Value>(type, Dims(dims.begin(), dims.end()), lazy::PlaceOf(device), caller);
  value->BecomePlaceholder();
  Tensor placeholder = lazy::MakeTensor(std::move(value));
  if (requires_grad) placeholder.RequiresGrad_(true, caller);
  return placeholder;
}

Tensor ShardedPlaceholder(DimList dims, PrimitiveType type, const Device& device, const std::string& sharding,
                          bool requires_grad, Caller caller) {
  Tensor placeholder = Placeholder(dims, type, device, requires_grad, caller);
  placeholder.impl()->value().sharding = std::make_shared<const std::string>(
      lazy::ValueOrThrow(hlo::ParseSharding(sharding, dims.size()), "placeholder", caller));
  return placeholder;
}

Tensor& Tensor::Fill(const Literal& literal, Caller caller) {
  static constexpr char kName[] = "fill";
  const auto check = [&](const lazy::Value& value) {
    if (!value.IsPlaceholder() || impl_->is_view()) {
      lazy::Throw(ErrorKind::kArgument,
                  absl::StrCat("only a placeholder can be filled; this is ", Describe()), kName, caller);
    }
  };
  lazy::Ref<lazy::Value> value;
  Buffer buffer;  // Valid if the daemon knows the placeholder.
  {
    const lazy::TraceLock lock;
    value = impl_->storage->value;
    check(*value);
    if (value->state() == lazy::Value::State::kData) buffer = value->buffer();
    if (!value->place.is_host() && value->place.runtime->ended())
      lazy::Throw(lazy::EndedError(), kName, caller);
  }
  if (!Compatible(literal.shape(), value->shape())) {
    lazy::Throw(
        ErrorKind::kArgument,
        absl::StrCat("a value of ", hlo::ToStringNoLayout(literal.shape()), " does not fill ", Describe()),
        kName, caller);
  }
  // Sending may have to wait, so the lock is not held meanwhile.
  const runtime::TransferOf transfer(value->id);
  if (buffer.valid()) {
    lazy::ThrowIfError(buffer.Fill(literal, caller), kName, caller);
    return *this;
  }
  if (!value->place.is_host()) {
    buffer = lazy::ValueOrThrow(lazy::DeviceOf(value->place).Upload(literal, Cause::kPlaceholderFill, caller),
                                kName, caller);
  }
  const lazy::TraceLock lock;
  check(*value);  // Another thread may have filled it meanwhile.
  if (buffer.valid()) value->Become(std::move(buffer));
  else value->Become(std::make_shared<const Literal>(literal));
  return *this;
}

}  // namespace hlod
