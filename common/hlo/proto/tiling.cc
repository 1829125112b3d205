// The tile assignment walked through in row-major order.
#include "common/hlo/proto/tiling.h"

#include <algorithm>

#include "common/base/arithmetic.h"
#include "common/base/status.h"
#include "common/hlo/replica_groups.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::hlo {
namespace {

// In the order of the tiles.
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

}  // namespace

absl::StatusOr<Tiling> TilingOf(std::string_view sharding, size_t rank, int64_t devices) {
  Tiling tiling{.parts = Dims(rank, 1),
                .tiles = std::vector<Dims>(static_cast<size_t>(devices), Dims(rank, 0))};
  xla::OpSharding proto;
  if (!proto.ParseFromArray(sharding.data(), static_cast<int>(sharding.size())))
    return InvalidArgument("A sharding is not a serialized OpSharding.");
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
