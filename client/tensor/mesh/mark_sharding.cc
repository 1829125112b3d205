// Puts tensors onto meshes, and states how results lie there.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/mesh/shards.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/mesh/shard_as.h"
#include "client/tensor/mesh/sharding_call.h"
#include "client/tensor/mesh/trace_mesh.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/defined.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "common/hlo/text/sharding.h"
#include "hlod/runtime/shards.h"
#include "hlod/tensor/sharding.h"

namespace hlod {
namespace lazy {
namespace {

constexpr char kName[] = "mark_sharding";

void RefuseViews(const Tensor& tensor, const Caller& caller) {
  if (!Defined(tensor, caller).is_view()) return;
  Throw(ErrorKind::kArgument, "a view lies where its base does: mark that", kName, caller);
}

std::shared_ptr<const std::string> Parsed(const std::string& sharding, const Tensor& tensor,
                                          const Caller& caller) {
  return std::make_shared<const std::string>(
      ValueOrThrow(hlo::ParseSharding(sharding, tensor.dims().size()), kName, caller));
}

std::string TextOf(const Tensor& tensor, const Mesh& mesh, const PartitionSpec& spec, const Caller& caller) {
  if (mesh.empty()) Throw(ErrorKind::kArgument, "the mesh has no axes", kName, caller);
  return ValueOrThrow(hlod::ShardingOf(mesh, spec, tensor.dims().size()), kName, caller);
}

// Returns an error unless the device's daemon has the mesh's devices.
void CheckMesh(const Device& device, const Mesh& mesh, const Caller& caller) {
  {
    const TraceLock lock;
    RememberAxes(mesh);
  }
  const int count = Client(device.internal_session()).device_count();
  for (const int ordinal : mesh.devices()) {
    if (ordinal >= 0 && ordinal < count) continue;
    Throw(ErrorKind::kArgument,
          absl::StrCat("the mesh ", mesh.ToString(), " has device ", ordinal, "; the daemon has ", count,
                       " (hlod --devices)"),
          kName, caller);
  }
}

// Divides a device's tensor. REQUIRES: TraceLock; `parsed` is the serialized `sharding`.
void Mark(Tensor& tensor, const Mesh& mesh, const std::string& sharding,
          std::shared_ptr<const std::string> parsed, const Caller& caller) {
  using State = Value::State;
  Value& value = tensor.impl()->value();
  if (value.state() == State::kFailed) Throw(value.failure(), kName, caller);
  if (value.state() == State::kNode) {
    Trace& graph = *value.graph();
    Lowering lowering(graph);
    graph.SetOrigin(caller, kName);
    const Op stated = AppendShardingCall(lowering, graph.op(value.node()), {mesh.devices(), sharding});
    graph.RemoveLive(value);
    graph.AddLive(value, stated.id);
    value.sharding = std::move(parsed);
    return;
  }
  if (value.state() == State::kPlaceholder) {
    value.Become(ValueOrThrow(PlaceholderShards(Client(tensor.device().internal_session()), value.shape(),
                                                mesh, sharding, value.origin),
                              kName, caller));
  } else if (value.state() == State::kData) {
    value.Become(ValueOrThrow(Divide(value.buffer(), mesh, sharding, caller), kName, caller));
  }
  value.sharding = std::move(parsed);  // Last, as the copies to the devices may fail.
  value.known_graph = 0;
}

}  // namespace
}  // namespace lazy

Tensor& MarkSharding(Tensor& tensor, const std::string& sharding, Caller caller) {
  lazy::RefuseViews(tensor, caller);
  auto parsed = lazy::Parsed(sharding, tensor, caller);
  const lazy::TraceLock lock;
  tensor.impl()->value().sharding = std::move(parsed);
  return tensor;
}

Tensor& MarkSharding(Tensor& tensor, const Mesh& mesh, const PartitionSpec& spec, Caller caller) {
  lazy::RefuseViews(tensor, caller);
  const std::string sharding = lazy::TextOf(tensor, mesh, spec, caller);
  if (tensor.device().is_host()) {
    lazy::Throw(ErrorKind::kArgument,
                "a host tensor lies on no mesh: copy it to a device with To(), or to a "
                "mesh with ToMesh()",
                lazy::kName, caller);
  }
  lazy::CheckMesh(tensor.device(), mesh, caller);
  auto parsed = lazy::Parsed(sharding, tensor, caller);
  const lazy::TraceLock lock;
  lazy::Mark(tensor, mesh, sharding, std::move(parsed), caller);
  return tensor;
}

namespace lazy {

void ShardAs(Tensor& tensor, const Tensor& like, const Caller& caller) {
  if (!tensor.defined() || !like.defined() || tensor.dims() != like.dims()) return;
  const TraceLock lock;
  if (tensor.impl()->is_view() || like.impl()->is_view() || tensor.impl()->place().is_host()) return;
  Value& value = tensor.impl()->value();
  const Value& model = like.impl()->value();
  if (value.sharding != nullptr || value.state() == Value::State::kFailed || !(value.place == model.place))
    return;
  std::vector<int> devices;
  std::string sharding = model.sharding == nullptr ? "" : *model.sharding;
  if (model.state() == Value::State::kData && model.buffer().valid() && !model.buffer().shards().empty()) {
    const runtime::Division& division = model.buffer().internal_state()->shards->division;
    devices = division.devices;
    sharding = division.sharding;
  } else if (model.state() == Value::State::kNode && model.sharding != nullptr) {
    devices = MeshOf(*model.graph(), caller);
  }
  if (devices.empty()) {
    value.sharding = model.sharding;
    return;
  }
  const bool is_divided = value.state() == Value::State::kData && !value.buffer().shards().empty();
  if (is_divided) return;
  const std::string text = hlo::ShardingToText(sharding);
  Mark(tensor, MeshOfDevices(devices), text.empty() ? "{replicated}" : text,
       std::make_shared<const std::string>(std::move(sharding)), caller);
}

}  // namespace lazy

Tensor WithSharding(const Tensor& tensor, const Mesh& mesh, const PartitionSpec& spec, Caller caller) {
  static constexpr lazy::Operation kOperation = {lazy::kName, lazy::kName, lazy::Promotion::kNone,
                                                 "a sharding stated"};
  const std::string sharding = lazy::TextOf(tensor, mesh, spec, caller);
  if (!tensor.device().is_host()) lazy::CheckMesh(tensor.device(), mesh, caller);
  return lazy::Call(kOperation, {Operand(tensor, caller)}, [&](lazy::Lowering& l, lazy::Operands x) {
    return lazy::AppendShardingCall(l, x[0], {mesh.devices(), sharding});
  });
}

Tensor ToMesh(const Tensor& tensor, const Device& device, const Mesh& mesh, const PartitionSpec& spec,
              Caller caller) {
  if (device.is_host())
    lazy::Throw(ErrorKind::kArgument, "the host is not a mesh: use ToHost()", "to_mesh", caller);
  const bool is_host = tensor.device().is_host();
  const std::string sharding = lazy::TextOf(tensor, mesh, spec, caller);
  lazy::CheckMesh(device, mesh, caller);
  const bool is_literal = [&] {
    const lazy::TraceLock lock;
    return is_host && !lazy::Defined(tensor).is_view() &&
           lazy::Defined(tensor).value().state() == lazy::Value::State::kHost;
  }();
  if (!is_literal || tensor.requires_grad()) {  // Gradients flow back through To().
    Tensor moved = is_host || tensor.device() != device ? tensor.To(device, caller) : tensor.Clone(caller);
    return MarkSharding(moved, mesh, spec, caller);
  }
  Tensor moved = Tensor::FromBuffer(
      lazy::ValueOrThrow(UploadShards(Client(device.internal_session()), tensor.ToLiteral(caller), mesh,
                                      sharding, Cause::kUpload, caller),
                         "to_mesh", caller),
      caller);
  auto parsed = lazy::Parsed(sharding, tensor, caller);
  const lazy::TraceLock lock;
  moved.impl()->value().sharding = std::move(parsed);
  return moved;
}

std::string ShardingOf(const Tensor& tensor) {
  const lazy::TraceLock lock;
  const lazy::Value& value = lazy::Defined(tensor).value();
  if (value.state() == lazy::Value::State::kData && !value.buffer().shards().empty())
    return value.buffer().sharding();
  if (value.sharding == nullptr) return "";
  const std::string text = hlo::ShardingToText(*value.sharding);
  return text.empty() ? "{replicated}" : text;
}

Tensor ShardedPlaceholder(DimList dims, PrimitiveType type, const Device& device, const Mesh& mesh,
                          const PartitionSpec& spec, bool requires_grad, Caller caller) {
  Tensor placeholder = Placeholder(dims, type, device, /*requires_grad=*/false, caller);
  MarkSharding(placeholder, mesh, spec, caller);
  if (requires_grad) placeholder.RequiresGrad_(true, caller);
  return placeholder;
}

}  // namespace hlod
