// Walks the tile assignment in row-major order.
#include "common/hlo/proto/tiling.h"

#include <algorithm>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/mesh_groups.h"
#include "common/hlo/collectives/replica_groups.h"

namespace hlod::hlo {
namespace {

// Returns the devices in the order of the tiles.
absl::StatusOr<Dims> DevicesOf(const xla::OpSharding& sharding, int64_t devices) {
  Dims order(sharding.tile_assignment_devices().begin(), sharding.tile_assignment_devices().end());
  if (order.empty()) {
    ReplicaGroups iota{.form = ReplicaGroups::Form::kIota, .count = 1, .size = devices};
    iota.reshape.assign(sharding.iota_reshape_dims().begin(), sharding.iota_reshape_dims().end());
    iota.transpose.assign(sharding.iota_transpose_perm().begin(), sharding.iota_transpose_perm().end());
    if (iota.transpose.empty()) {
      for (size_t d = 0; d < iota.reshape.size(); ++d) iota.transpose.push_back(static_cast<int64_t>(d));
    }
    RETURN_IF_ERROR(CheckGroups(iota));
    order = ListGroups(iota)[0];
  }
  Dims sorted = order;
  std::ranges::sort(sorted);
  for (int64_t i = 0; i < devices; ++i) {
    if (static_cast<int64_t>(sorted.size()) != devices || sorted[static_cast<size_t>(i)] != i)
      return InvalidArgument("A sharding among (%d) devices does not name each of them once.", devices);
  }
  return order;
}

Tiling Whole(size_t rank, int64_t devices) {
  return {.parts = Dims(rank, 1), .tiles = std::vector<Dims>(static_cast<size_t>(devices), Dims(rank, 0))};
}

// Returns the tiling of a sharding by the axes of a mesh.
absl::StatusOr<Tiling> TilingByAxes(const xla::NamedShardingProto& sharding, size_t rank, int64_t devices) {
  Tiling tiling = Whole(rank, devices);
  const auto dimensions = static_cast<size_t>(sharding.dim_shardings_size());
  if (sharding.mesh().axes().empty() && sharding.mesh().device_ids_size() == 1)
    return Unimplemented("A sharding on device (%d) alone does not divide an array.",
                         sharding.mesh().device_ids(0));
  if (dimensions == 0) return tiling;
  if (dimensions != rank)
    return InvalidArgument("A sharding of (%d) dimensions is on an array of (%d).", dimensions, rank);
  xla::MeshAxesReplicaGroupListProto list;
  *list.mutable_mesh() = sharding.mesh();
  for (const auto& dimension : sharding.dim_shardings()) list.mutable_axes()->MergeFrom(dimension.axes());
  ASSIGN_OR_RETURN(const std::vector<Dims> groups, MeshGroups(list, devices));
  if (static_cast<int64_t>(groups.size() * groups[0].size()) != devices) {
    return InvalidArgument("A sharding on a mesh of (%d) devices is among (%d).",
                           groups.size() * groups[0].size(), devices);
  }
  ASSIGN_OR_RETURN(tiling.parts, PartsByAxes(sharding));
  for (const Dims& group : groups) {
    for (size_t tile = 0; tile < group.size(); ++tile) {
      if (group[tile] >= devices)
        return InvalidArgument("A sharding among (%d) devices names device (%d).", devices, group[tile]);
      auto place = static_cast<int64_t>(tile);
      for (size_t d = rank; d-- > 0; place /= tiling.parts[d])
        tiling.tiles[static_cast<size_t>(group[tile])][d] = place % tiling.parts[d];
    }
  }
  return tiling;
}

}  // namespace

absl::StatusOr<Dims> PartsByAxes(const xla::NamedShardingProto& sharding) {
  Dims parts;
  for (const auto& dimension : sharding.dim_shardings()) {
    int64_t along = 1;
    for (const xla::AxisRefProto& axis : dimension.axes()) {
      const int64_t index = axis.mesh_axis_index();
      if (index < 0 || index >= sharding.mesh().axes_size()) {
        return InvalidArgument("A sharding names axis (%d) of a mesh of (%d).", index,
                               sharding.mesh().axes_size());
      }
      const int64_t size = axis.has_sub_axis_info() ? axis.sub_axis_info().size()
                                                    : sharding.mesh().axes(static_cast<int>(index)).size();
      const std::optional<int64_t> product = CheckedMultiply(along, std::max<int64_t>(1, size));
      if (!product) return InvalidArgument("A sharding divides a dimension into more than 2^63 parts.");
      along = *product;
    }
    parts.push_back(along);
  }
  return parts;
}

absl::StatusOr<Tiling> TilingOf(std::string_view sharding, size_t rank, int64_t devices) {
  Tiling tiling = Whole(rank, devices);
  xla::OpSharding proto;
  if (!proto.ParseFromArray(sharding.data(), static_cast<int>(sharding.size())))
    return InvalidArgument("A sharding is not a serialized OpSharding.");
  if (proto.has_named_sharding()) return TilingByAxes(proto.named_sharding(), rank, devices);
  if (sharding.empty() || proto.type() == xla::OpSharding::REPLICATED) return tiling;
  if (proto.type() != xla::OpSharding::OTHER)
    return Unimplemented("A sharding of type %s does not divide an array.",
                         xla::OpSharding::Type_Name(proto.type()));
  const Dims assignment(proto.tile_assignment_dimensions().begin(), proto.tile_assignment_dimensions().end());
  const auto subgroups =
      static_cast<size_t>(proto.replicate_on_last_tile_dim() ? 1 : proto.last_tile_dims_size());
  std::optional<int64_t> count = 1;
  for (const int64_t along : assignment) count = CheckedMultiply(count.value_or(-1), along);
  if (assignment.size() != rank + subgroups || count != devices) {
    return InvalidArgument(
        "A sharding of (%d) dimensions among (%d) devices is on an array of (%d) among (%d).",
        assignment.size() - subgroups, count.value_or(-1), rank, devices);
  }
  ASSIGN_OR_RETURN(const Dims order, DevicesOf(proto, devices));
  tiling.parts.assign(assignment.begin(), assignment.begin() + static_cast<std::ptrdiff_t>(rank));
  Dims index(assignment.size(), 0);
  for (const int64_t device : order) {
    tiling.tiles[static_cast<size_t>(device)].assign(index.begin(),
                                                     index.begin() + static_cast<std::ptrdiff_t>(rank));
    for (size_t d = assignment.size(); d-- > 0;) {
      if (++index[d] < assignment[d]) break;
      index[d] = 0;
    }
  }
  return tiling;
}

}  // namespace hlod::hlo
