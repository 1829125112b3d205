// Bulk copies write every byte and none beyond, at any size and alignment.
#include "common/base/system/copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace hlod {
namespace {

TEST(CopyBytes, CopiesEveryByteWhateverTheSizeAndAlignment) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{512} << 10, (size_t{512} << 10) + 17}) {
    for (const size_t shift : {0, 1, 16}) {
      std::vector<std::byte> from(size + 64), to(size + 64, std::byte{0xee});
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 3);
      CopyBytes(to.data() + shift, from.data() + 5, size);
      EXPECT_EQ(std::memcmp(to.data() + shift, from.data() + 5, size), 0) << size << " at " << shift;
      EXPECT_EQ(to[size + shift], std::byte{0xee}) << "nothing beyond";
    }
  }
}

}  // namespace
}  // namespace hlod
