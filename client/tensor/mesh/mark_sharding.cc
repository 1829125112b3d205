// Puts tensors onto meshes, and states how results lie there.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
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
  const int count = Client(device.internal_session()).device_count();
  for (const int ordinal : mesh.devices()) {
    if (ordinal >= 0 && ordinal < count) continue;
    Throw(ErrorKind::kArgument,
          absl::StrCat("the mesh ", mesh.ToString(), " has device ", ordinal, "; the daemon has ", count,
                       " (hlod --devices)"),
          kName, caller);
  }
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
  using State = lazy::Value::State;
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
  lazy::Value& value = tensor.impl()->value();
  if (value.state == State::kFailed) lazy::Throw(value.failure, lazy::kName, caller);
  if (value.state == State::kNode) {
    lazy::Trace& graph = *value.graph;
    lazy::Lowering lowering(graph);
    graph.SetOrigin(caller, lazy::kName);
    const lazy::Op stated =
        lazy::AppendShardingCall(lowering, graph.op(value.node), {mesh.devices(), sharding});
    graph.RemoveLive(value);
    graph.AddLive(value, stated.id);
    value.sharding = std::move(parsed);
    return tensor;
  }
  if (value.state == State::kPlaceholder) {
    value.Become(lazy::ValueOrThrow(PlaceholderShards(Client(tensor.device().internal_session()),
                                                      value.shape(), mesh, sharding, value.origin),
                                    lazy::kName, caller));
  } else if (value.state == State::kData) {
    value.Become(lazy::ValueOrThrow(Divide(value.buffer, mesh, sharding, caller), lazy::kName, caller));
  }
  value.sharding = std::move(parsed);  // Last, as the copies to the devices may fail.
  value.known_graph = 0;
  return tensor;
}

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
           lazy::Defined(tensor).value().state == lazy::Value::State::kHost;
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
  if (value.state == lazy::Value::State::kData && !value.buffer.shards().empty())
    return value.buffer.sharding();
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
