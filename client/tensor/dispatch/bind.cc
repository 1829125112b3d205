// Checks and places the operands of an operation.
#include "client/tensor/dispatch/bind.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/events.h"
#include "client/runtime/observe/metrics.h"
#include "client/tensor/dispatch/settings.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/placeholder.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/host.h"

namespace hlod::lazy {
namespace {

void UploadMissing(const Operation& operation, const Caller& caller, const Missing& missing, Place place) {
  const Value& shown = *missing.shown;
  auto copy = MakeRef<Value>(shown.type, shown.dims, place, caller);
  const runtime::TransferOf transfer(copy->id);
  absl::StatusOr<Buffer> buffer = DeviceOf(place).Upload(*shown.literal(), Cause::kImplicitUpload, caller);
  if (!buffer.ok()) throw Refusal{buffer.status()};
  if (Current().mixed_devices == MixedDevices::kWarn) {
    std::fprintf(stderr, "hlod: %s (%s) copies argument %zu, %s, from the host to %s\n", operation.pytorch,
                 LineText(caller).c_str(), missing.index, ShapeText(shown).c_str(),
                 DeviceOf(place).ToString().c_str());
  }
  const TraceLock lock;
  ++Stats().implicit_copies;
  runtime::CountMetric(runtime::MetricCounter::kImplicitCopies);
  Stats().implicit_copy_bytes += buffer->byte_size();
  copy->Become(*std::move(buffer));
  TensorImpl& tensor = *missing.tensor;
  tensor.copy = std::move(copy);
  tensor.copy_place = place;
  tensor.copy_version = missing.version;
}

}  // namespace

std::string PlaceText(Place place, Place other) {
  const std::string device = DeviceOf(place).ToString();
  if (place.runtime == other.runtime || place.is_host()) return device;
  if (place.runtime->ended()) return absl::StrCat(device, " of a connection that has ended");
  const Client client(DeviceOf(place).internal_session());
  return absl::StrCat(device, " of the daemon at ", client.address(), " (session ", client.session_id(), ")");
}

const Caller& CallerOf(OperandSpan operands) {
  static constexpr Caller kUnknown;
  return CallerScope::Of(operands.empty() ? kUnknown : operands[0].caller());
}

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
             PlaceText(place, other), &operand - operands.data(), PlaceText(other, place));
    }
    if (first == nullptr) first = &operand;
    place = other;
  }
  return place;
}

BoundOperands Bind(const Operation& operation, OperandSpan operands, Place place,
                   absl::Span<const size_t> copied, std::optional<Missing>& missing) {
  BoundOperands bound(operands.size());
  for (size_t i = 0; i < operands.size() && !missing; ++i) {
    if (operands[i].tensor() == nullptr) continue;
    TensorImpl& tensor = *operands[i].tensor()->impl();
    bound[i].tensor = &tensor;
    if (tensor.value().state() == Value::State::kFile) missing = Missing{.file = tensor.storage->value};
    if (place.is_host() || !tensor.value().place.is_host() || missing) continue;
    if (tensor.value().IsPlaceholder())
      Refuse("argument %d is a placeholder of the host: make it on the device", i);
    if (Current().scalar_host_tensors && Count(tensor.dims()) == 1) {
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
    Materialize(*shown);
    missing = Missing{.tensor = &tensor, .shown = shown, .version = tensor.storage->version, .index = i};
  }
  return bound;
}

void Fetch(const Operation& operation, const Caller& caller, const Missing& missing, Place place) {
  if (missing.file) LoadFile(missing.file);
  else UploadMissing(operation, caller, missing, place);
}

Trace& GraphFor(Place place, const BoundOperands& bound) {
  ThreadTraces& trace = ThreadTraces::Get();
  if (place.is_host()) {
    for (const Bound& operand : bound) {
      if (operand.tensor == nullptr || !FunctionTrace::IsInside(*operand.tensor)) continue;
      if (Trace* const function = FunctionTrace::GraphAt(place); function != nullptr) return *function;
    }
    for (size_t i = 0; i < bound.size(); ++i) {
      if (bound[i].tensor != nullptr && bound[i].tensor->value().IsAbstract()) {
        return trace.Open(place, Trace::Kind::kAbstract);
      }
    }
    return trace.Open(place, Trace::Kind::kHost);
  }
  if (place.runtime->ended()) throw Refusal{EndedError()};
  for (const Bound& operand : bound) {
    if (operand.tensor != nullptr && operand.tensor->value().IsAbstract()) {
      Trace& graph = trace.Open(place, Trace::Kind::kAbstract);
      if (graph.size() > Current().placeholder_nodes_max) {
        Refuse("more than placeholder_nodes_max (%d) instructions depend on placeholders",
               Current().placeholder_nodes_max);
      }
      return graph;
    }
  }
  return trace.Open(place, Trace::Kind::kReal);
}

}  // namespace hlod::lazy
