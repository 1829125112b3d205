// Which part of an array each device has, of an OpSharding.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::hlo {

struct Tiling {
  Dims parts;               // Along each dimension.
  std::vector<Dims> tiles;  // By device: which of them it has. Several may have the same.
};

// Into how many parts a sharding by the axes of a mesh divides each dimension. INVALID_ARGUMENT when an axis does
// not exist or their product overflows.
absl::StatusOr<Dims> PartsByAxes(const xla::NamedShardingProto& sharding);

// Of an array of `rank` dimensions among `devices` of them. `sharding` is a serialized OpSharding; none is
// replicated. UNIMPLEMENTED for one device's arrays, tuples and subgroups of other kinds; INVALID_ARGUMENT
// when it does not name every device once.
absl::StatusOr<Tiling> TilingOf(std::string_view sharding, size_t rank, int64_t devices);

}  // namespace hlod::hlo
