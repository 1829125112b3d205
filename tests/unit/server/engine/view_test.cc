// Reading through views, beside the definition of their elements.
#include "server/engine/tile/view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace hlod::engine {
namespace {

// Returns the place of element i by the definition.
int64_t PlaceOf(const View& view, int64_t i) {
  int64_t place = view.offset;
  for (size_t d = view.dims.size(); d-- > 0;) {
    place += i % view.dims[d].size * view.dims[d].stride;
    i /= view.dims[d].size;
  }
  return place;
}

// The elements are as many as the view reaches, and end at the end of their memory: a read beyond is found by
// the address sanitizer.
template <typename T>
void ExpectRead(const View& view, int64_t start, int64_t n) {
  int64_t last = 0;
  for (int64_t i = 0; i < view.count; ++i) last = std::max(last, PlaceOf(view, i));
  std::vector<T> base(static_cast<size_t>(last + 1));
  for (size_t i = 0; i < base.size(); ++i) base[i] = static_cast<T>(i * 37 + 11);
  const T guard = static_cast<T>(0xa5);
  std::vector<T> out(static_cast<size_t>(n + 40), guard);
  ReadView(view, reinterpret_cast<const std::byte*>(base.data()), sizeof(T), start, n,
           reinterpret_cast<std::byte*>(out.data()));
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(out[static_cast<size_t>(i)], base[static_cast<size_t>(PlaceOf(view, start + i))])
        << "element " << start << " + " << i << " of " << n << ", bytes " << sizeof(T);
  }
  for (size_t i = static_cast<size_t>(n); i < out.size(); ++i)
    ASSERT_EQ(out[i], guard) << i - static_cast<size_t>(n) << " elements beyond the end of " << n;
}

TEST(View, RandomViewsAreReadByTheirDefinition) {
  std::mt19937 random(5);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  for (int round = 0; round < 400; ++round) {
    View view;
    view.count = 1;
    const int64_t rank = 1 + below(4);
    int64_t reach = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const bool innermost = d == rank - 1;
      const int64_t size = 1 + below(innermost ? 40 : 6);
      const int64_t stride = innermost ? below(4) - 1 : below(60) - 20;
      view.dims.push_back({size, stride});
      view.count *= size;
      reach += std::max<int64_t>(0, -(size - 1) * stride);
    }
    view.offset = reach + below(5);
    const int64_t start = below(view.count), n = 1 + below(view.count - start);
    ExpectRead<uint8_t>(view, start, n);
    ExpectRead<uint16_t>(view, start, n);
    ExpectRead<uint32_t>(view, start, n);
    ExpectRead<uint64_t>(view, start, n);
  }
}

// A cursor that advances by rows is where one that begins there is.
TEST(View, CursorsAdvanceByRows) {
  View view{.count = 3 * 5 * 24};
  view.dims = {{3, 100}, {5, 2}, {24, 1}};
  for (const int64_t row : {24, 8}) {
    RunCursor cursor(view, 0);
    for (int64_t start = 0; start < view.count;) {
      const RunCursor fresh(view, start);
      ASSERT_EQ(cursor.offset(), fresh.offset()) << start;
      ASSERT_EQ(cursor.left(), fresh.left()) << start;
      const int64_t rows = std::min<int64_t>(cursor.RowsLeft(row), 2);
      cursor.AdvanceRows(rows, row);
      start += rows * row;
    }
  }
}

}  // namespace
}  // namespace hlod::engine
