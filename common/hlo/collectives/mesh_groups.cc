// Treats a mesh as an array whose axes are split into the named factors; those within a group are moved to
// the end.
#include "common/hlo/collectives/mesh_groups.h"

#include <algorithm>
#include <numeric>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"

namespace hlod::hlo {
namespace {

// The limit on the dimensions of an iota, and on the parts of axes: more would take long to enumerate.
constexpr int kFactorsMax = 64;

// A range of devices along an axis, `stride` positions apart.
struct Factor {
  int64_t size, stride;
};

absl::StatusOr<int64_t> CountDevices(const xla::MeshProto& mesh, int64_t devices_max) {
  int64_t devices = 1;
  for (const auto& axis : mesh.axes()) {
    if (axis.size() < 1)
      return InvalidArgument("Axis '%s' of a mesh has size (%d).", axis.name(), axis.size());
    if (axis.size() > devices_max / devices) {
      return InvalidArgument("Axis '%s' of size (%d) makes a mesh of more than (%d) devices, the limit.",
                             axis.name(), axis.size(), devices_max);
    }
    devices *= axis.size();
  }
  return devices;
}

absl::Status CheckDevices(const xla::MeshProto& mesh, int64_t count) {
  if (!mesh.device_ids().empty()) {
    Dims sorted(mesh.device_ids().begin(), mesh.device_ids().end());
    std::ranges::sort(sorted);
    if (static_cast<int64_t>(sorted.size()) != count)
      return InvalidArgument("A mesh of (%d) places names (%d) devices.", count, sorted.size());
    if (sorted[0] < 0) return InvalidArgument("A mesh names device (%d).", sorted[0]);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) return InvalidArgument("A mesh names device (%d) twice.", *twice);
  }
  if (!mesh.has_iota_transform()) return absl::OkStatus();
  const auto& shape = mesh.iota_transform().reshape_dims();
  const auto& order = mesh.iota_transform().transpose_perm();
  Dims sorted(order.begin(), order.end());
  std::ranges::sort(sorted);
  int64_t product = 1;
  bool fits = mesh.device_ids().empty() && order.size() == shape.size() && shape.size() <= kFactorsMax;
  for (int d = 0; fits && d < shape.size(); ++d) {
    fits = sorted[static_cast<size_t>(d)] == d && shape[d] > 0 && shape[d] <= count / product;
    if (fits) product *= shape[d];
  }
  if (fits && product == count) return absl::OkStatus();
  return InvalidArgument("The devices of a mesh are not a transposed iota of its (%d) places.", count);
}

// Returns the device at each position of the mesh. REQUIRES: CheckDevices.
Dims DevicesOf(const xla::MeshProto& mesh, int64_t count) {
  Dims devices(mesh.device_ids().begin(), mesh.device_ids().end());
  if (devices.empty()) {
    devices.resize(static_cast<size_t>(count));
    std::iota(devices.begin(), devices.end(), 0);
  }
  if (!mesh.has_iota_transform()) return devices;
  const Dims shape(mesh.iota_transform().reshape_dims().begin(), mesh.iota_transform().reshape_dims().end());
  const auto& order = mesh.iota_transform().transpose_perm();
  const Dims strides = RowMajorStrides(shape);
  Dims index(shape.size());  // An index of the transposed array.
  for (int64_t& device : devices) {
    device = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      device += index[d] * strides[static_cast<size_t>(order[static_cast<int>(d)])];
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[static_cast<size_t>(order[static_cast<int>(d)])]) break;
      index[d] = 0;
    }
  }
  return devices;
}

// Returns the part of an axis that a reference names: its size, and its stride in steps of the axis.
absl::StatusOr<std::pair<int64_t, int64_t>> PartOf(const xla::MeshProto& mesh,
                                                   const xla::AxisRefProto& axis) {
  if (axis.mesh_axis_index() < 0 || axis.mesh_axis_index() >= mesh.axes_size())
    return InvalidArgument("A mesh of (%d) axes has none of number (%d).", mesh.axes_size(),
                           axis.mesh_axis_index());
  const auto& whole = mesh.axes(static_cast<int>(axis.mesh_axis_index()));
  if (!axis.has_sub_axis_info()) return std::make_pair(whole.size(), int64_t{1});
  const int64_t before = axis.sub_axis_info().pre_size(), size = axis.sub_axis_info().size();
  if (before < 1 || size < 1 || before > whole.size() || size > whole.size() / before ||
      whole.size() % (before * size) != 0) {
    return InvalidArgument("Axis '%s' of size (%d) has no part of size (%d) after (%d).", whole.name(),
                           whole.size(), size, before);
  }
  return std::make_pair(size, whole.size() / before / size);
}

// Returns the positions in an array of factors, the last varying fastest.
Dims Places(const std::vector<Factor>& factors) {
  Dims places = {0};
  for (const Factor& factor : factors) {
    Dims next;
    next.reserve(places.size() * static_cast<size_t>(factor.size));
    for (const int64_t place : places) {
      for (int64_t i = 0; i < factor.size; ++i) next.push_back(place + i * factor.stride);
    }
    places = std::move(next);
  }
  return places;
}

struct Factors {
  int64_t devices = 0;
  std::vector<Factor> inside, outside;  // Factors within a group, and factors across groups.
};

absl::StatusOr<Factors> FactorsOf(const xla::MeshAxesReplicaGroupListProto& list, int64_t devices_max) {
  const xla::MeshProto& mesh = list.mesh();
  if (list.axes_size() > kFactorsMax || mesh.axes_size() > kFactorsMax) {
    return InvalidArgument("A mesh of (%d) axes is grouped by (%d); the limit of both is (%d).",
                           mesh.axes_size(), list.axes_size(), kFactorsMax);
  }
  Factors factors;
  ASSIGN_OR_RETURN(factors.devices, CountDevices(mesh, devices_max));
  RETURN_IF_ERROR(CheckDevices(mesh, factors.devices));
  Dims sizes;
  for (const auto& axis : mesh.axes()) sizes.push_back(axis.size());
  const Dims strides = RowMajorStrides(sizes);

  std::vector<std::vector<Factor>> named(sizes.size());  // By axis, the named factors, in units of the axis.
  for (const xla::AxisRefProto& axis : list.axes()) {
    ASSIGN_OR_RETURN(const auto part, PartOf(mesh, axis));
    const auto number = static_cast<size_t>(axis.mesh_axis_index());
    factors.inside.push_back({part.first, part.second * strides[number]});
    named[number].push_back({part.first, part.second});
  }
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    std::ranges::sort(named[axis], std::ranges::greater(), &Factor::stride);
    // The number of steps along the axis that are not assigned yet, slowest first.
    int64_t left = sizes[axis];
    for (const Factor& part : named[axis]) {
      const int64_t reach = part.size * part.stride;
      if (reach > left || left % reach != 0) {
        return InvalidArgument(
            "The part of size (%d) of axis '%s' of a mesh, of size (%d), overlaps another.", part.size,
            mesh.axes(static_cast<int>(axis)).name(), sizes[axis]);
      }
      factors.outside.push_back({left / reach, reach * strides[axis]});
      left = part.stride;
    }
    factors.outside.push_back({left, strides[axis]});
  }
  return factors;
}

}  // namespace

absl::Status CheckMeshGroups(const xla::MeshAxesReplicaGroupListProto& list, int64_t devices_max) {
  return FactorsOf(list, devices_max).status();
}

std::pair<int64_t, int64_t> MeshGroupCounts(const xla::MeshAxesReplicaGroupListProto& list) {
  const absl::StatusOr<Factors> factors = FactorsOf(list, INT64_MAX);
  if (!factors.ok()) return {0, 0};
  int64_t size = 1;
  for (const Factor& factor : factors->inside) size *= factor.size;
  return {factors->devices, size};
}

absl::StatusOr<std::vector<Dims>> MeshGroups(const xla::MeshAxesReplicaGroupListProto& list,
                                             int64_t devices_max) {
  ASSIGN_OR_RETURN(const Factors factors, FactorsOf(list, devices_max));
  const Dims devices = DevicesOf(list.mesh(), factors.devices);
  std::vector<Dims> groups;
  const Dims participants = Places(factors.inside);
  for (const int64_t first : Places(factors.outside)) {
    Dims& group = groups.emplace_back();
    for (const int64_t place : participants) group.push_back(devices[static_cast<size_t>(first + place)]);
  }
  return groups;
}

}  // namespace hlod::hlo
