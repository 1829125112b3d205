// Attributes of calls of foreign functions, as handlers see them.
#include <cstring>
#include <vector>

#include "client/pjrt/ffi/attributes.h"
#include "client/pjrt/ffi/call.h"
#include "tests/unit/client/pjrt/driver.h"

namespace hlod::pjrt::ffi {
namespace {

// Larger than what a reader of programs expands.
TEST(ForeignAttributes, LargeArraysOfOneElementAreExpanded) {
  constexpr size_t kCount = 600'000;
  const auto read = CallAttributes::Read("{value = dense<-7> : tensor<600000xi32>}");
  ASSERT_TRUE(read.ok()) << read.status();
  const Attributes& attributes = (*read)->attributes();
  ASSERT_EQ(attributes.size, 1);
  ASSERT_EQ(attributes.types[0], AttributeType::kArray);
  const auto& array = *static_cast<const Array*>(attributes.values[0]);
  ASSERT_EQ(array.size, kCount);
  std::vector<int32_t> values(kCount);
  std::memcpy(values.data(), array.data, kCount * sizeof(int32_t));
  EXPECT_EQ(values, std::vector<int32_t>(kCount, -7));
}

// The function writes the result into the operand's memory, which must not be too short.
TEST(ForeignAttributes, AResultHasTheMemoryOfAnOperandOfItsSizeOnly) {
  const auto call = Call::Make("f", Target(), /*version=*/4, "{hlod.aliases = array<i64: 0, 0, 1, 1, 2, 7>}",
                               {hlo::Shape::Array(hlo::kF32, {1}), hlo::Shape::Array(hlo::kF32, {4})},
                               std::vector<hlo::Shape>(3, hlo::Shape::Array(hlo::kF32, {4})));
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ((*call)->AliasOf(0), -1);
  EXPECT_EQ((*call)->AliasOf(1), 1);
  EXPECT_EQ((*call)->AliasOf(2), -1);
}

}  // namespace
}  // namespace hlod::pjrt::ffi
