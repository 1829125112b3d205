// Keeps the functions that a thread is tracing.
#include "client/tensor/function/function_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"

namespace hlod::lazy {
namespace {

// Represents the seed of the device's stream at the time of a call.
constexpr uint64_t kSeedOfTheCall = 0x5eed0fca11;

FunctionTrace*& OpenTrace() {
  thread_local FunctionTrace* innermost = nullptr;
  return innermost;
}

}  // namespace

FunctionTrace* FunctionTrace::Innermost() { return OpenTrace(); }

FunctionTrace::FunctionTrace(const char* what, std::optional<Place> place, const Caller& caller)
    : what_(what),
      caller_(caller),
      place_(place),
      grad_mode_(std::exchange(GradMode(), true)),
      stream_{kSeedOfTheCall, 0},
      around_(std::exchange(OpenTrace(), this)),
      begun_(NextId()) {
  if (place_.has_value()) graph();
}

FunctionTrace::~FunctionTrace() {
  const TraceLock lock;
  OpenTrace() = around_;
  GradMode() = grad_mode_;
  if (graph_ == nullptr) return;
  const absl::Status gone = MakeError(
      ErrorKind::kArgument, absl::StrCat("the tensor was made while the function of ", what_, " (",
                                         LineText(caller_), ") was traced, and was not returned by it"));
  for (Value* value : graph_->LiveInOrder()) value->Become(gone);
  graph_->Clear();
}

Trace& FunctionTrace::graph() {
  if (graph_ == nullptr) {
    const TraceLock lock;
    graph_ = std::make_unique<Trace>(place(), Trace::Kind::kFunction);
  }
  return *graph_;
}

FunctionTrace* FunctionTrace::At(Place place) {
  for (FunctionTrace* trace = OpenTrace(); trace != nullptr; trace = trace->around_) {
    if (!trace->place_.has_value() && !place.is_host()) trace->place_ = place;
    if (trace->place_ == place) return trace;
  }
  return nullptr;
}

Trace* FunctionTrace::GraphAt(Place place) {
  FunctionTrace* const trace = At(place);
  return trace == nullptr ? nullptr : &trace->graph();
}

RandomState* FunctionTrace::StreamAt(Place place) {
  FunctionTrace* const trace = At(place);
  return trace == nullptr ? nullptr : &trace->stream_;
}

void FunctionTrace::Reseed(uint64_t seed) {
  for (FunctionTrace* trace = OpenTrace(); trace != nullptr; trace = trace->around_) {
    if (!trace->steps_.has_value()) trace->steps_ = trace->stream_.offset;
    trace->stream_ = {seed, 0};
  }
}

bool FunctionTrace::IsInside(const TensorImpl& tensor) {
  const Value& value = tensor.value();
  return value.graph() != nullptr && value.graph()->kind == Trace::Kind::kFunction;
}

void FunctionTrace::CheckRead(const Value& value, const char* operation, const Caller& caller) {
  const FunctionTrace* const trace = OpenTrace();
  const bool node = value.graph() != nullptr && value.graph()->kind == Trace::Kind::kFunction;
  if (trace == nullptr || (value.place.is_host() && !node)) return;
  Throw(ErrorKind::kArgument,
        absl::StrCat("a value is read while the function of ", trace->what_, " (", LineText(trace->caller_),
                     ") is traced, which runs later and perhaps often; return the tensor ", ShapeText(value),
                     " and read it outside"),
        operation, caller);
}

void FunctionTrace::CheckSync(const Caller& caller) {
  if (OpenTrace() == nullptr) return;
  Throw(ErrorKind::kArgument,
        absl::StrCat("Sync() is called while the function of ", OpenTrace()->what_, " (",
                     LineText(OpenTrace()->caller_), ") is traced, which runs later"),
        "sync", caller);
}

void FunctionTrace::CheckWrite(const Trace& graph, const Storage& storage) {
  const Value& value = *storage.value;
  const char* kind = "a tensor of its surroundings";
  bool refused = value.graph() != &graph;
  for (FunctionTrace* trace = OpenTrace(); trace != nullptr && !refused; trace = trace->around_) {
    for (const Ref<Storage>& argument : trace->argument_storages_) {
      if (argument.get() != &storage) continue;
      kind = "its argument";
      refused = true;
    }
  }
  if (!refused) return;
  Refuse("the function of %s (%s) that is traced changes %s %s, made at %s, in place; return the new value",
         OpenTrace()->what_, LineText(OpenTrace()->caller_), kind, ShapeText(value), LineText(value.origin));
}

void FunctionTrace::CheckHostWrite(const Storage& storage) {
  const FunctionTrace* const trace = OpenTrace();
  if (trace == nullptr || storage.value->id > trace->begun_) return;
  Refuse(
      "the function of %s (%s) that is traced changes a host tensor of its surroundings %s, made at %s, in "
      "place, which would happen once, at the tracing; return the new value",
      trace->what_, LineText(trace->caller_), ShapeText(*storage.value), LineText(storage.value->origin));
}

Tensor FunctionTrace::Argument(const Tensor& like) {
  const TraceLock lock;
  const NodeId node = graph().ArgumentParameter(like.shape());
  auto value = MakeRef<Value>(like.dtype(), like.dims(), graph().place, like.impl()->value().origin);
  graph().AddLive(*value, node);
  arguments_.push_back(node);
  Tensor argument = MakeTensor(std::move(value));
  argument_storages_.push_back(argument.impl()->storage);
  return argument;
}

Function FunctionTrace::Finish(absl::Span<const Tensor> results) {
  const TraceLock lock;
  std::vector<NodeId> outputs;
  for (const Tensor& result : results) outputs.push_back(NodeOf(graph(), *result.impl()));
  Function function = Extract(graph(), arguments_, outputs);
  function.random_steps = steps_.value_or(stream_.offset);
  for (Parameter& extra : function.extra)
    extra.random = extra.random && extra.literal->data<uint64_t>()[0] == kSeedOfTheCall;
  return function;
}

}  // namespace hlod::lazy
