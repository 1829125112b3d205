// Finds the mesh of a trace, and puts its parameters there.
#include "client/tensor/mesh/trace_mesh.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/runtime/mesh/shards.h"
#include "client/tensor/mesh/sharding_call.h"
#include "client/tensor/trace/trace_tables.h"
#include "client/tensor/value/throw.h"
#include "common/hlo/text/sharding.h"
#include "hlod/runtime/shards.h"

namespace hlod::lazy {
namespace {

// By callee, the devices that it names. Callees are interned: their contents never change while their tables
// exist.
using Callees = std::map<hlo::ComputationId, std::vector<int>>;

// The devices that were found so far.
class FoundMesh {
 public:
  FoundMesh(const Caller& caller, Callees& callees) : caller_(caller), callees_(callees) {}

  void Add(const std::vector<int>& devices) {
    if (devices.empty() || devices == devices_) return;
    if (!devices_.empty()) {
      Throw(ErrorKind::kArgument,
            absl::StrCat("the tensors of one program lie on different meshes: on devices ",
                         absl::StrJoin(devices_, ","), " and on devices ", absl::StrJoin(devices, ","),
                         "; MarkSharding() moves a tensor to another mesh"),
            "execute", caller_);
    }
    devices_ = devices;
  }

  void AddCalls(const hlo::Computation& computation) {
    for (NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Instruction instruction = computation[node];
      if (IsShardingCall(instruction)) Add(ReadShardingCall(instruction).devices);
      for (const hlo::ComputationId callee : instruction.called()) Add(DevicesOfCallee(callee));
    }
  }

  const std::vector<int>& devices() const { return devices_; }

 private:
  const std::vector<int>& DevicesOfCallee(hlo::ComputationId id) {
    const auto [found, added] = callees_.try_emplace(id);
    if (!added) return found->second;
    FoundMesh inside(caller_, callees_);
    inside.AddCalls(TraceTables::Get().callees().computation(id));
    return callees_[id] = inside.devices();
  }

  const Caller& caller_;
  Callees& callees_;
  std::vector<int> devices_;
};

// The meshes whose axes have names, by devices. Guarded by TraceLock.
std::map<std::vector<int>, Mesh>& NamedMeshes() {
  static auto* const meshes = new std::map<std::vector<int>, Mesh>;
  return *meshes;
}

const runtime::Shards* ShardsOf(const Value& value) {
  if (value.state() != Value::State::kData || !value.buffer().valid()) return nullptr;
  return value.buffer().internal_state()->shards.get();
}

}  // namespace

std::vector<int> MeshOf(const Trace& graph, const Caller& caller) {
  Callees callees;
  FoundMesh found(caller, callees);
  for (const Parameter& parameter : graph.parameters()) {
    const runtime::Shards* const shards = parameter.value ? ShardsOf(*parameter.value) : nullptr;
    if (shards != nullptr) found.Add(shards->division.devices);
  }
  if (MayHaveShardingCalls()) found.AddCalls(graph.computation());
  return found.devices();
}

void PlaceParameters(Trace& graph, const std::vector<int>& mesh, const Caller& caller) {
  for (const Parameter& parameter : graph.parameters()) {
    if (!parameter.value) continue;
    Value& value = *parameter.value;
    if (value.state() != Value::State::kData || ShardsOf(value) != nullptr) continue;
    const std::string text = value.sharding == nullptr ? "" : hlo::ShardingToText(*value.sharding);
    value.Become(ValueOrThrow(
        Divide(value.buffer(), MeshOfDevices(mesh), text.empty() ? "{replicated}" : text, caller), "execute",
        caller));
  }
}

std::string ShardingOf(const Parameter& parameter) {
  if (!parameter.value) return "";
  const Value& value = *parameter.value;
  const runtime::Shards* const shards = ShardsOf(value);
  if (shards == nullptr) return value.sharding == nullptr ? "" : *value.sharding;
  if (!shards->division.sharding.empty()) return shards->division.sharding;
  return StatedSharding("{replicated}", value.dims.size(), shards->parts.size());
}

void RememberAxes(const Mesh& mesh) { NamedMeshes().insert_or_assign(mesh.devices(), mesh); }

Mesh MeshOfDevices(const std::vector<int>& devices) {
  const auto found = NamedMeshes().find(devices);
  if (found != NamedMeshes().end()) return found->second;
  return Mesh({{"devices", static_cast<int64_t>(devices.size())}}, devices);
}

bool IsSoleOwner(const Value& value) {
  if (value.buffer().internal_state().use_count() != 1) return false;
  const runtime::Shards* const shards = ShardsOf(value);
  return shards == nullptr || std::ranges::all_of(shards->parts, [](const Buffer& part) {
           return part.internal_state().use_count() == 1;
         });
}

}  // namespace hlod::lazy
