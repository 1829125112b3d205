// The part of an array that each device holds, according to an OpSharding.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::hlo {

struct Tiling {
  Dims parts;               // The number of parts along each dimension.
  std::vector<Dims> tiles;  // By device, the position of its tile. Several devices may have the same tile.
};

// Returns the number of parts of each dimension under a sharding by the axes of a mesh. INVALID_ARGUMENT when
// an axis does not exist or the product of its axes overflows.
absl::StatusOr<Dims> PartsByAxes(const xla::NamedShardingProto& sharding);

// Returns the tiling of an array of `rank` dimensions among `devices` devices. `sharding` is a serialized
// OpSharding; an empty one means replicated. UNIMPLEMENTED for arrays on one device, tuples and subgroups of
// other kinds; INVALID_ARGUMENT when it does not name every device once.
absl::StatusOr<Tiling> TilingOf(std::string_view sharding, size_t rank, int64_t devices);

}  // namespace hlod::hlo
