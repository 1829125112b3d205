// Arrays are cut into the tiles of shardings and joined again. Expected tiles by NumPy's slices of
// arange(42).
#include "common/hlo/proto/tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hlo/text/sharding.h"

namespace hlod::hlo {
namespace {

using ::testing::ElementsAre;

Literal Counting(Dims dims) {
  Literal literal(Shape::Array(kS32, std::move(dims)));
  for (int64_t i = 0; i < literal.element_count(); ++i)
    literal.data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  return literal;
}

Tiling Parsed(std::string_view text, size_t rank, int64_t devices) {
  return TilingOf(ParseSharding(text, rank).value(), rank, devices).value();
}

Literal TileAt(const Literal& whole, const Tiling& tiling, size_t device) {
  return CutTile(whole.bytes(), whole.shape(), tiling, tiling.tiles[device]);
}

struct Row {
  std::string sharding;
  Dims tile;                    // The tile's dimensions.
  std::vector<int32_t> second;  // The elements of the second device's.
  size_t different;             // The number of different tiles.
};

class Tiles : public ::testing::TestWithParam<Row> {};

TEST_P(Tiles, AreCutAndJoined) {
  const Row& row = GetParam();
  const Literal whole = Counting({7, 6});
  const Tiling tiling = Parsed(row.sharding, 2, 8);
  EXPECT_EQ(TileShape(whole.shape(), tiling).dims, row.tile);
  const Literal second = TileAt(whole, tiling, 1);
  EXPECT_EQ(std::vector<int32_t>(second.data<int32_t>().begin(), second.data<int32_t>().end()), row.second);
  const std::vector<size_t> holders = FirstHolders(tiling);
  EXPECT_EQ(holders.size(), row.different);
  Literal joined(whole.shape());
  for (const size_t holder : holders) PlaceTile(TileAt(whole, tiling, holder), tiling.tiles[holder], joined);
  EXPECT_EQ(joined, whole);
}

INSTANTIATE_TEST_SUITE_P(
    Shardings, Tiles,
    ::testing::Values(Row{"{devices=[4,2]<=[8]}", {2, 3}, {3, 4, 5, 9, 10, 11}, 8},
                      Row{"{devices=[4,1,2]<=[8] last_tile_dim_replicate}",
                          {2, 6},
                          {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                          4},
                      Row{"{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}",
                          {4, 6},
                          {24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
                           36, 37, 38, 39, 40, 41, 0,  0,  0,  0,  0,  0},
                          2},
                      Row{"{devices=[1,2,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}",
                          {7, 3},
                          {3, 4, 5, 9, 10, 11, 15, 16, 17, 21, 22, 23, 27, 28, 29, 33, 34, 35, 39, 40, 41},
                          2},
                      Row{"{devices=[1,2,2,2]<=[8] last_tile_dims={manual, replicated}}",
                          {7, 3},
                          {0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20, 24, 25, 26, 30, 31, 32, 36, 37, 38},
                          2},
                      Row{"{devices=[8,1]<=[8]}", {1, 6}, {6, 7, 8, 9, 10, 11}, 8}));

TEST(Tiling, PartsBeyondTheEndAreZeros) {
  const Literal whole = Counting({3});
  const Tiling tiling = Parsed("{devices=[4]<=[4]}", 1, 4);  // Each has one; the fourth lies beyond the end.
  EXPECT_THAT(TileAt(whole, tiling, 2).data<int32_t>(), ElementsAre(2));
  EXPECT_THAT(TileAt(whole, tiling, 3).data<int32_t>(), ElementsAre(0));
  const Literal none = Counting({0, 4});
  EXPECT_EQ(TileAt(none, Parsed("{devices=[2,2]<=[4]}", 2, 4), 1).shape().dims, Dims({0, 2}));
  const Literal scalar = Literal::Scalar<int32_t>(7);
  EXPECT_EQ(TileAt(scalar, Parsed("{replicated}", 0, 4), 3), scalar);
}

}  // namespace
}  // namespace hlod::hlo
