// Tables of the places of a view's elements, by hand.
#include "server/engine/assemble/view_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hlod::engine::assemble {
namespace {

using testing::ElementsAre;

View ViewOf(std::initializer_list<View::Dimension> dims, int64_t offset = 0) {
  View view{.base = 0, .is_iota = false, .count = 1, .offset = offset, .dims = {}};
  for (const View::Dimension& d : dims) {
    view.dims.push_back(d);
    view.count *= d.size;
  }
  return view;
}

class Tables : public testing::Test {
 protected:
  Tables() {
    code_.init(asmjit::Environment::host());
    code_.attach(&compiler_);
  }
  asmjit::CodeHolder code_;
  x86::Compiler compiler_;
};

// Three rows of the same element five times: the second vector begins with the last two of the second row.
TEST_F(Tables, ElementsThatRepeatAreInWindows) {
  ViewTables tables(compiler_, 8);
  const ViewTable& table = tables.Of(ViewOf({{3, 4}, {5, 0}}), true);
  EXPECT_TRUE(table.has_windows);
  EXPECT_FALSE(table.in_order);
  EXPECT_EQ(table.window, 5);
  EXPECT_THAT(table.places, ElementsAre(0, 0, 0, 0, 0, 4, 4, 4, 0, 0, 4, 4, 4, 4, 4, 4));
  EXPECT_THAT(table.starts, ElementsAre(0, 0, 4, 0));
}

// The last vector's window would end behind the view.
TEST_F(Tables, WindowsAreWithinTheView) {
  ViewTables tables(compiler_, 8);
  const ViewTable& table = tables.Of(ViewOf({{9, 1}, {1, 0}}), true);
  EXPECT_EQ(table.window, 8);
  EXPECT_FALSE(table.in_order);
  EXPECT_THAT(table.starts, ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(table.places, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7));
}

TEST_F(Tables, ARowIsInOrder) {
  ViewTables tables(compiler_, 16);
  const ViewTable& table = tables.Of(ViewOf({{6, 1}}, 30), true);
  EXPECT_TRUE(table.has_windows);
  EXPECT_TRUE(table.in_order);
  EXPECT_EQ(table.window, 6);
}

TEST_F(Tables, PlacesFarFromEachOtherHaveNoWindows) {
  ViewTables tables(compiler_, 8);
  const ViewTable& table = tables.Of(ViewOf({{2, -9}, {2, 20}}), true);
  EXPECT_FALSE(table.has_windows);
  EXPECT_THAT(table.places, ElementsAre(0, 20, -9, 11, 11, 11, 11, 11));
}

TEST_F(Tables, ViewsThatDifferByTheirOffsetsShareATable) {
  ViewTables tables(compiler_, 8);
  EXPECT_EQ(&tables.Of(ViewOf({{3, 4}, {5, 0}}), true), &tables.Of(ViewOf({{3, 4}, {5, 0}}, 7), true));
  EXPECT_NE(&tables.Of(ViewOf({{3, 4}, {5, 0}}), true), &tables.Of(ViewOf({{3, 4}, {5, 0}}), false));
  EXPECT_NE(&tables.Of(ViewOf({{3, 4}, {5, 0}}), true), &tables.Of(ViewOf({{3, 4}, {5, 1}}), true));
}

TEST_F(Tables, LargeViewsHaveNone) {
  EXPECT_TRUE(ViewTables::Fits(ViewOf({{64, 1}, {64, 64}})));
  EXPECT_FALSE(ViewTables::Fits(ViewOf({{65, 1}, {64, 64}})));
  EXPECT_FALSE(ViewTables::Fits(ViewOf({{2, int64_t{1} << 40}, {2, 1}})));
  EXPECT_FALSE(ViewTables::Fits(ViewOf({{2, 3}, {2, 1}}, int64_t{1} << 40)));
}

}  // namespace
}  // namespace hlod::engine::assemble
