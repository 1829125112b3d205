// Attributes of calls of foreign functions, as handlers see them.
#include <cstring>
#include <vector>

#include "client/pjrt/ffi/attributes.h"
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

}  // namespace
}  // namespace hlod::pjrt::ffi
