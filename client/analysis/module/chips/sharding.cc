// Reads XLA's OpSharding: the parts are the product of the tile counts, without the dimensions over which
// tiles are copied.
#include "client/analysis/module/chips/sharding.h"

#include <algorithm>

#include "common/base/arithmetic.h"
#include "common/base/text/strings.h"
#include "common/hlo/proto/tiling.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::analysis {
namespace {

// Returns the number of tiles by dimension; empty when the array is whole.
hlo::Dims DimsOf(const xla::OpSharding& sharding) {
  if (sharding.has_named_sharding()) return hlo::PartsByAxes(sharding.named_sharding()).value_or(hlo::Dims());
  hlo::Dims tiles;
  if (sharding.type() != xla::OpSharding::OTHER) return tiles;
  // The last dimensions may be subgroups, which do not divide.
  const int subgroups = sharding.replicate_on_last_tile_dim() ? 1 : sharding.last_tile_dims_size();
  for (int dim = 0; dim < sharding.tile_assignment_dimensions_size() - subgroups; ++dim)
    tiles.push_back(std::max<int64_t>(1, sharding.tile_assignment_dimensions(dim)));
  return tiles;
}

int64_t Tiles(const xla::OpSharding& sharding) {
  int64_t tiles = 1;
  for (const int64_t along : DimsOf(sharding)) tiles = CheckedMultiply(tiles, along).value_or(INT64_MAX);
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

std::vector<hlo::Dims> TilesOf(std::string_view sharding, const hlo::Shape& shape) {
  std::vector<hlo::Dims> tiles;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(shape)) tiles.emplace_back(leaf.shape->dims.size(), 1);
  xla::OpSharding proto;
  if (sharding.empty() || !proto.ParseFromArray(sharding.data(), static_cast<int>(sharding.size())))
    return tiles;
  for (size_t leaf = 0; leaf < tiles.size(); ++leaf) {
    const bool tuple = proto.type() == xla::OpSharding::TUPLE;
    if (tuple && leaf >= static_cast<size_t>(proto.tuple_shardings_size())) break;
    const hlo::Dims said = DimsOf(tuple ? proto.tuple_shardings(static_cast<int>(leaf)) : proto);
    // A sharding of another rank is ignored.
    if (said.size() == tiles[leaf].size()) tiles[leaf] = said;
  }
  return tiles;
}

}  // namespace hlod::analysis
