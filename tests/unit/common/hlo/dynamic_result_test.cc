// Arrays of dynamic sizes as bytes and back, and bytes that do not fit.
#include "common/hlo/dynamic/dynamic_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text/strings.h"
#include "common/hlo/text/text.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

TEST(DynamicResult, EverySizeOfThreeDimensionsComesBack) {
  const Shape bounds = Shape::Array(kS32, {2, 3, 4});
  const Shape shape = ParseShape("s32[<=2,<=3,<=4]").value();
  EXPECT_EQ(StoredByteSize(bounds), 96);
  EXPECT_EQ(StoredByteSize(shape), 96 + 12);
  Literal array(bounds);
  for (int i = 0; i < 24; ++i) array.data<int32_t>()[i] = i;
  for (int64_t a = 0; a <= 2; ++a) {
    for (int64_t b = 0; b <= 3; ++b) {
      for (int64_t c = 0; c <= 4; ++c) {
        const auto stored = ToStored(array, {a, b, c});
        ASSERT_TRUE(stored.ok()) << stored.status();
        const auto back = FromStored(shape, stored->bytes());
        ASSERT_TRUE(back.ok()) << back.status();
        ASSERT_EQ(back->shape().dims, Dims({a, b, c}));
        const auto values = back->data<int32_t>();
        int64_t at = 0;
        for (int64_t i = 0; i < a; ++i) {
          for (int64_t j = 0; j < b; ++j) {
            for (int64_t k = 0; k < c; ++k) EXPECT_EQ(values[at++], 12 * i + 4 * j + k);
          }
        }
      }
    }
  }
}

TEST(DynamicResult, WhatDoesNotFitIsNamed) {
  const Shape shape = ParseShape("f32[<=3]").value();
  const Literal array = Literal::Vector<float>({1, 2, 3});
  EXPECT_THAT(std::string(FromAbsl(ToStored(array, {4}).status().message())),
              HasSubstr("size (4); its bound is (3)"));
  Literal stored = ToStored(array, {2}).value();
  EXPECT_THAT(std::string(FromAbsl(FromStored(shape, stored.bytes().first(12)).status().message())),
              HasSubstr("stored in (16) bytes, and (12) were given"));
  stored.bytes()[12] = std::byte{9};
  EXPECT_THAT(std::string(FromAbsl(FromStored(shape, stored.bytes()).status().message())),
              HasSubstr("size (9)"));
}

}  // namespace
}  // namespace hlod::hlo
