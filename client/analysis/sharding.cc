// XLA's OpSharding: the product of the tile counts, without the dimensions over which tiles are copied.
#include "client/analysis/sharding.h"

#include <algorithm>

#include "common/base/strings.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::analysis {
namespace {

int64_t Tiles(const xla::OpSharding& sharding) {
  if (sharding.type() != xla::OpSharding::OTHER) return 1;
  // The last dimensions may be subgroups, which divide nothing.
  const int subgroups = sharding.replicate_on_last_tile_dim() ? 1 : sharding.last_tile_dims_size();
  int64_t tiles = 1;
  for (int dim = 0; dim < sharding.tile_assignment_dimensions_size() - subgroups; ++dim)
    tiles *= std::max<int64_t>(1, sharding.tile_assignment_dimensions(dim));
  return tiles;
}

}  // namespace

std::vector<int64_t> PartsOf(std::string_view sharding, size_t leaves) {
  std::vector<int64_t> parts(leaves, 1);
  xla::OpSharding proto;
  if (sharding.empty() || !proto.ParseFromArray(sharding.data(), static_cast<int>(sharding.size())))
    return parts;
  if (proto.type() != xla::OpSharding::TUPLE) {
    std::fill(parts.begin(), parts.end(), Tiles(proto));
    return parts;
  }
  const size_t said = std::min(leaves, static_cast<size_t>(proto.tuple_shardings_size()));
  for (size_t leaf = 0; leaf < said; ++leaf)
    parts[leaf] = Tiles(proto.tuple_shardings(static_cast<int>(leaf)));
  return parts;
}

}  // namespace hlod::analysis
