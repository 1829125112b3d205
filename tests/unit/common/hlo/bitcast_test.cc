// Bitcasts over padded tiles: accepted when every element keeps its place, refused when the padding is in
// other places.
#include "common/hlo/bitcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/hlo/text/text.h"

namespace hlod::hlo {
namespace {

absl::Status BitcastBetween(const std::string& from, const std::string& to) {
  const auto module = ParseModule("HloModule m\nENTRY e {\n  p = " + from +
                                  " parameter(0)\n  ROOT b = " + to + " bitcast(p)\n}");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? BitcastFormOf((*module)->entry().root()).status() : module.status();
}

// Tiles of 2 by 2 store f32[1,3] as 1 2 . . 3 . . . and f32[3,1] as 1 . 2 . 3 . . . (dots are padding): the
// second element moves.
TEST(Bitcast, PaddingInOtherPlacesIsRefused) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"f32[1,3]{1,0:T(2,2)}", "f32[3,1]{1,0:T(2,2)}"},
           {"f32[3,1,3]{2,1,0:T(2,2)}", "f32[3,3,1]{2,1,0:T(2,2)}"},
           {"f32[3,3]{1,0:T(2,2)}", "f32[3,3]{1,0:T(2,2)(2,1)}"}}) {
    EXPECT_EQ(BitcastBetween(from, to).code(), absl::StatusCode::kUnimplemented) << from << " to " << to;
  }
}

// E(4) packs two elements per byte; without it each element has its own byte.
TEST(Bitcast, ElementsOfAnotherWidthAreRefused) {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"s4[2,8]{1,0:E(4)}", "s4[8,2]{1,0}"},
                                                        {"s4[2,8]{1,0}", "s4[8,2]{1,0:E(4)}"},
                                                        {"s8[2,8]{1,0:E(4)}", "s8[8,2]{1,0:E(4)}"}}) {
    EXPECT_EQ(BitcastBetween(from, to).code(), absl::StatusCode::kUnimplemented) << from << " to " << to;
  }
  EXPECT_TRUE(BitcastBetween("s4[2,8]{1,0:E(4)}", "s4[8,2]{1,0:E(4)}").ok());
  EXPECT_TRUE(BitcastBetween("f32[2,8]{1,0:E(32)}", "f32[8,2]{1,0}").ok());
}

TEST(Bitcast, TheSamePaddingKeepsEveryElement) {
  EXPECT_TRUE(BitcastBetween("f32[3,3]{1,0:T(2,2)}", "f32[3,3]{1,0:T(2,2)}").ok());
  EXPECT_TRUE(BitcastBetween("f32[3,3]{1,0:T(2,2)}", "f32[1,3,3]{2,1,0:T(2,2)}").ok());
  EXPECT_TRUE(BitcastBetween("f32[1,3]{1,0:T(2,2)}", "f32[3,1]{0,1:T(2,2)}").ok());
}

}  // namespace
}  // namespace hlod::hlo
