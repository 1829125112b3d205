// XLA's OpSharding: the product of the tile counts, without the dimensions over which tiles are copied.
#include "client/analysis/sharding.h"

#include <algorithm>

#include "common/base/strings.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::analysis {

int64_t PartsOf(std::string_view sharding) {
  xla::OpSharding proto;
  if (sharding.empty() || !proto.ParseFromArray(sharding.data(), static_cast<int>(sharding.size()))) return 1;
  if (proto.type() != xla::OpSharding::OTHER) return 1;
  // The last dimensions may be subgroups, which divide nothing.
  const int subgroups = proto.replicate_on_last_tile_dim() ? 1 : proto.last_tile_dims_size();
  int64_t parts = 1;
  for (int dim = 0; dim < proto.tile_assignment_dimensions_size() - subgroups; ++dim)
    parts *= std::max<int64_t>(1, proto.tile_assignment_dimensions(dim));
  return parts;
}

}  // namespace hlod::analysis
