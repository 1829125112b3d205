// Meshes, and the shardings that their axes state.
#include "hlod/runtime/mesh.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/partition/mesh.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/collective.h"

namespace hlod {
namespace {

absl::Status CheckAxes(const std::vector<Mesh::Axis>& axes) {
  int64_t devices = 1;
  std::set<std::string> names;
  for (const auto& [name, size] : axes) {
    if (name.empty()) return InvalidArgument("An axis of a mesh has no name.");
    if (size < 1)
      return InvalidArgument("The axis %s of a mesh has the size (%d), which is below 1.", name, size);
    if (!names.insert(name).second) return InvalidArgument("A mesh has the axis %s twice.", name);
    if (size > hlo::kParticipantsMax / devices)
      return InvalidArgument("A mesh has more than %d devices.", hlo::kParticipantsMax);
    devices *= size;
  }
  return absl::OkStatus();
}

absl::Status CheckDevices(const std::vector<int>& devices, int64_t count) {
  if (static_cast<int64_t>(devices.size()) != count)
    return InvalidArgument("A mesh of %d devices is given %d.", count, devices.size());
  std::set<int> seen;
  for (const int device : devices) {
    if (!seen.insert(device).second) return InvalidArgument("A mesh names device %d twice.", device);
  }
  return absl::OkStatus();
}

}  // namespace

Mesh::Mesh(std::vector<Axis> axes, std::vector<int> devices)
    : axes_(std::move(axes)), devices_(std::move(devices)), status_(CheckAxes(axes_)) {
  if (!status_.ok()) return;
  int64_t count = 1;
  for (const auto& [name, size] : axes_) count *= size;
  if (devices_.empty()) {
    devices_.resize(static_cast<size_t>(count));
    std::iota(devices_.begin(), devices_.end(), 0);
  }
  status_ = CheckDevices(devices_, count);
}

absl::StatusOr<Mesh> Mesh::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(hlo::Mesh parsed, partition::ParseMesh(text));
  Mesh mesh(std::move(parsed.axes));
  RETURN_IF_ERROR(mesh.status());
  return mesh;
}

std::optional<int64_t> Mesh::size(std::string_view axis) const {
  const auto found = std::ranges::find(axes_, axis, &Axis::first);
  if (found == axes_.end()) return std::nullopt;
  return found->second;
}

std::string Mesh::ToString() const { return partition::MeshText({.axes = axes_}); }

std::string PartitionSpec::ToString() const {
  std::vector<std::string> dimensions;
  for (const Entry& entry : entries_) {
    const auto quoted = [](std::string* out, const std::string& axis) {
      absl::StrAppend(out, "\"", axis, "\"");
    };
    const std::string axes = absl::StrJoin(entry.axes(), ", ", quoted);
    dimensions.push_back(entry.axes().empty() ? "None" : entry.axes().size() == 1 ? axes : "(" + axes + ")");
  }
  return absl::StrCat("(", absl::StrJoin(dimensions, ", "), ")");
}

absl::StatusOr<std::string> ShardingOf(const Mesh& mesh, const PartitionSpec& spec, size_t rank) {
  RETURN_IF_ERROR(mesh.status());
  if (spec.entries().size() != rank) {
    return InvalidArgument("The spec %s has %d dimensions; the array has %d.", spec.ToString(),
                           spec.entries().size(), rank);
  }
  std::vector<int64_t> tiles, order;  // The parts per dimension, and the axes: first those that divide.
  const auto is_used = [&](int64_t axis) { return std::ranges::find(order, axis) != order.end(); };
  for (const PartitionSpec::Entry& entry : spec.entries()) {
    int64_t parts = 1;
    for (const std::string& name : entry.axes()) {
      const auto found = std::ranges::find(mesh.axes(), name, &Mesh::Axis::first);
      if (found == mesh.axes().end()) {
        return InvalidArgument("The spec %s names the axis %s, which the mesh %s does not have.",
                               spec.ToString(), name, mesh.ToString());
      }
      const int64_t axis = found - mesh.axes().begin();
      if (is_used(axis))
        return InvalidArgument("The spec %s names the axis %s twice.", spec.ToString(), name);
      order.push_back(axis);
      parts *= found->second;
    }
    tiles.push_back(parts);
  }
  const int64_t copies =
      mesh.device_count() / std::accumulate(tiles.begin(), tiles.end(), int64_t{1}, std::multiplies<>());
  if (copies == mesh.device_count()) return "{replicated}";
  for (int64_t axis = 0; axis < static_cast<int64_t>(mesh.axes().size()); ++axis) {
    if (!is_used(axis)) order.push_back(axis);
  }
  if (copies > 1) tiles.push_back(copies);
  std::string text = absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[");
  if (std::ranges::is_sorted(order)) {
    absl::StrAppend(&text, mesh.device_count(), "]");
  } else {
    const auto size = [](std::string* out, const Mesh::Axis& axis) { absl::StrAppend(out, axis.second); };
    absl::StrAppend(&text, absl::StrJoin(mesh.axes(), ",", size), "]T(", absl::StrJoin(order, ","), ")");
  }
  return text + (copies > 1 ? " last_tile_dim_replicate}" : "}");
}

}  // namespace hlod
