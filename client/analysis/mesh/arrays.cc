// Matches arrays of a partitioned module with those of the module before: the partitioner keeps the metadata
// of what it divides.
#include "client/analysis/mesh/arrays.h"

#include <algorithm>
#include <tuple>

#include "client/analysis/module/callees_first.h"

namespace hlod::analysis {
namespace {

hlo::Shape PartOf(hlo::Shape shape, const AxisSpec& spec, const hlo::Mesh& mesh) {
  for (size_t dim = 0; dim < spec.dims.size(); ++dim) {
    int64_t parts = 1;
    for (const size_t axis : spec.dims[dim]) parts *= mesh.axes[axis].second;
    shape.dims[dim] = (shape.dims[dim] + parts - 1) / parts;
  }
  return shape;
}

}  // namespace

std::vector<ShardedArray> ShardedArraysOf(const hlo::Module& annotated, const hlo::Mesh& mesh) {
  std::vector<ShardedArray> arrays;
  const SourceLines lines(annotated);
  for (const hlo::ComputationId id : CalleesFirst(annotated, annotated.entry_id())) {
    const hlo::Computation& computation = annotated.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Notes* const notes = computation.notes(node);
      const hlo::Shape& shape = computation[node].shape();
      if (notes == nullptr || notes->sharding.empty() || !shape.IsArray()) continue;
      ShardedArray array{.name = computation[node].name(),
                         .op_name = notes->metadata.op_name,
                         .source = lines.Of(*notes),
                         .shape = shape,
                         .spec = SpecOf(notes->sharding, shape.dims.size(), mesh)};
      if (!array.spec.known) continue;
      array.part = PartOf(shape, array.spec, mesh);
      array.bytes = hlo::ByteSize(shape).value_or(0);
      array.part_bytes = hlo::ByteSize(array.part).value_or(0);
      arrays.push_back(std::move(array));
    }
  }
  std::ranges::stable_sort(arrays, std::greater<>(), &ShardedArray::bytes);
  return arrays;
}

std::vector<Replicated> ReplicatedAtPeak(const Peak& peak, const std::vector<ShardedArray>& arrays,
                                         const hlo::Mesh& mesh) {
  using Key = std::tuple<std::string_view, std::string_view, int, std::string>;
  std::map<Key, const ShardedArray*> by_operation;
  for (const ShardedArray& array : arrays) {
    by_operation.try_emplace(
        {array.op_name, array.source.file, array.source.line, hlo::ToStringNoLayout(array.part)}, &array);
  }
  std::vector<Replicated> replicated;
  for (const Contributor& array : peak.largest) {
    if (array.op_name.empty() && array.source.file.empty()) continue;
    const auto found = by_operation.find(
        {array.op_name, array.source.file, array.source.line, hlo::ToStringNoLayout(array.shape)});
    if (found == by_operation.end() || found->second->spec.replicated.empty()) continue;
    const AxisSpec& spec = found->second->spec;
    const size_t axis = *std::ranges::max_element(
        spec.replicated, {}, [&](size_t candidate) { return mesh.axes[candidate].second; });
    const double parts = static_cast<double>(mesh.axes[axis].second);
    replicated.push_back({.array = array,
                          .axis = axis,
                          .saved = static_cast<double>(array.bytes) * (parts - 1) / parts,
                          .division = ToString(spec, mesh)});
  }
  std::ranges::stable_sort(replicated, std::greater<>(), &Replicated::saved);
  return replicated;
}

}  // namespace hlod::analysis
