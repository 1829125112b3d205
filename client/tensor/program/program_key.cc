// Words are compared by the caches; what is not a word of an instruction is appended as a tail.
#include "client/tensor/program/program_key.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/mesh/trace_mesh.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

constexpr uint32_t kSeparator = UINT32_MAX;

// Marks the parameters whose value and buffer are held only by the trace, so that the program may reuse their
// memory.
std::vector<bool> Donated(const Trace& graph) {
  std::vector<bool> donated;
  for (const Parameter& parameter : graph.parameters()) {
    donated.push_back(parameter.value && parameter.value->references() == 1 &&
                      parameter.value->state() == Value::State::kData && IsSoleOwner(*parameter.value));
  }
  return donated;
}

// Appends the parameters' shardings, which are notes and not words: for each its number, length and bytes.
void AppendShardings(const Trace& graph, absl::Span<const uint32_t> parameters, std::vector<uint32_t>& tail) {
  for (uint32_t i = 0; i < parameters.size(); ++i) {
    const std::string sharding = ShardingOf(graph.parameters()[parameters[i]]);
    if (sharding.empty()) continue;
    tail.push_back(i);
    tail.push_back(static_cast<uint32_t>(sharding.size()));
    tail.insert(tail.end(), sharding.begin(), sharding.end());
  }
}

// Returns the shardings of the outputs that have one, serialized; others are empty. They keep a tensor that
// is updated in place as it was marked, and have no meaning without a mesh.
std::vector<std::string> OutputShardings(const Outputs& outputs, const std::vector<int>& mesh) {
  std::vector<std::string> shardings(mesh.empty() ? 0 : outputs.nodes.size());
  for (size_t i = 0; i < shardings.size(); ++i) {
    const auto& sharding = outputs.values[i].front()->sharding;
    if (sharding != nullptr) shardings[i] = *sharding;
  }
  return shardings;
}

// Appends the mesh and the shardings of outputs.
void AppendMesh(const std::vector<int>& mesh, const std::vector<std::string>& outputs,
                std::vector<uint32_t>& tail) {
  if (mesh.empty()) return;
  tail.push_back(kSeparator);
  tail.insert(tail.end(), mesh.begin(), mesh.end());
  for (const std::string& sharding : outputs) {
    tail.push_back(static_cast<uint32_t>(sharding.size()));
    tail.insert(tail.end(), sharding.begin(), sharding.end());
  }
}

// Returns the data that determine a program besides the words of its instructions: outputs, donations and the
// device.
std::vector<uint32_t> Tail(absl::Span<const NodeId> outputs, const std::vector<bool>& donated, Place place) {
  std::vector<uint32_t> tail(outputs.begin(), outputs.end());
  tail.push_back(kSeparator);
  for (uint32_t parameter = 0; parameter < donated.size(); ++parameter) {
    if (donated[parameter]) tail.push_back(parameter);
  }
  tail.push_back(kSeparator);
  tail.push_back(static_cast<uint32_t>(place.ordinal));
  return tail;
}

}  // namespace

Outputs OutputsOf(const Trace& graph) {
  Outputs outputs;
  for (Value* value : graph.LiveInOrder()) {
    if (outputs.nodes.empty() || outputs.nodes.back() != value->node()) {
      outputs.nodes.push_back(value->node());
      outputs.values.emplace_back();
    }
    outputs.values.back().push_back(value);
  }
  return outputs;
}

RecordedKey RecordedKeyOf(Trace& graph, const Outputs& outputs, const Caller& caller) {
  RecordedKey key{.mesh = MeshOf(graph, caller)};
  if (!key.mesh.empty()) PlaceParameters(graph, key.mesh, caller);
  key.donated = Donated(graph);
  key.tail = Tail(outputs.nodes, key.donated, graph.place);
  std::vector<uint32_t> all(graph.parameters().size());
  std::iota(all.begin(), all.end(), 0u);
  AppendShardings(graph, all, key.tail);
  AppendMesh(key.mesh, OutputShardings(outputs, key.mesh), key.tail);
  return key;
}

CanonicalKey::CanonicalKey(const Trace& graph, const Outputs& outputs, const RecordedKey& key)
    : form(Canonicalise(graph, outputs.nodes)), shardings(OutputShardings(outputs, key.mesh)) {
  if (!key.mesh.empty()) options = {.mesh = MeshOfDevices(key.mesh), .partitioner = "gspmd"};
  std::vector<bool> donated;
  for (uint32_t i = 0; i < form.parameters.size(); ++i) {
    donated.push_back(key.donated[form.parameters[i]]);
    if (donated.back()) donors.push_back(i);
  }
  tail = Tail(form.outputs, donated, graph.place);
  AppendShardings(graph, form.parameters, tail);
  AppendMesh(key.mesh, shardings, tail);
}

CanonicalKey::CanonicalKey(Canonical form, const CanonicalKey& other)
    : form(std::move(form)),
      shardings(other.shardings),
      donors(other.donors),
      tail(other.tail),
      options(other.options) {
  std::ranges::copy(this->form.outputs, tail.begin());  // Tail() begins with them.
}

std::unique_ptr<Module> CanonicalKey::MakeModule(const Trace& graph, const Caller& caller) const {
  return lazy::MakeModule(absl::StrCat("trace_", LineText(caller)), graph, form, donors, shardings);
}

}  // namespace hlod::lazy
