// Block sort: it is stable, ends with any comparator after few comparisons, and stops when the callbacks say
// so.
#include "common/base/block_sort.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace hlod {
namespace {

struct Sorted {
  bool completed = false;
  int64_t questions = 0;
  std::vector<uint32_t> order;
};

// Sorts the numbers from 0 to count - 1 by `less`, and stops after `questions_max` comparisons.
template <typename F>
Sorted SortBy(int64_t count, F less, int64_t questions_max = INT64_MAX) {
  std::vector<uint64_t> scratch(BlockSorter::ScratchBytes(count) / 8 + 1, 0xdeadbeefdeadbeef);
  BlockSorter sorter(reinterpret_cast<std::byte*>(scratch.data()), count);
  Sorted sorted;
  sorted.completed = sorter.Sort(
      [&](const uint32_t* x, const uint32_t* y, int64_t n, uint8_t* answers) {
        EXPECT_LE(n, BlockSorter::kBlock);
        for (int64_t i = 0; i < n; ++i) {
          EXPECT_TRUE(x[i] < count && y[i] < count);
          answers[i] = less(x[i], y[i]) ? 1 : 0;
        }
        sorted.questions += n;
        return sorted.questions <= questions_max;
      },
      [](int64_t) { return false; });
  sorted.order.assign(sorter.order(), sorter.order() + count);
  EXPECT_EQ(scratch.back(), 0xdeadbeefdeadbeef);
  return sorted;
}

TEST(BlockSort, SortsStably) {
  std::mt19937 random(1);
  for (const int64_t count : {0, 1, 2, 3, 10, 511, 512, 513, 20'000}) {
    for (const uint32_t values : {1u, 2u, 10u, 1'000'000u}) {
      std::vector<uint32_t> keys(count);
      for (uint32_t& key : keys) key = random() % values;
      std::vector<uint32_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0u);
      std::stable_sort(expected.begin(), expected.end(),
                       [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
      const Sorted sorted = SortBy(count, [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
      EXPECT_TRUE(sorted.completed);
      EXPECT_EQ(sorted.order, expected) << count << " of " << values;
    }
  }
}

// Random pivots are expected to need 2 n ln n comparisons.
TEST(BlockSort, AsksFewQuestions) {
  constexpr int64_t kCount = 30'000;
  const double most = 4 * kCount * std::log(kCount);
  const auto is_few = [&](auto less) {
    const Sorted sorted = SortBy(kCount, less);
    EXPECT_LT(static_cast<double>(sorted.questions), most);
    std::vector<uint32_t> order = sorted.order;
    std::sort(order.begin(), order.end());
    for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(order[i], i);
  };
  is_few([](uint32_t a, uint32_t b) { return a < b; });
  is_few([](uint32_t a, uint32_t b) { return a > b; });
  // These comparators are not orders.
  is_few([](uint32_t, uint32_t) { return true; });
  is_few([](uint32_t, uint32_t) { return false; });
  is_few([](uint32_t a, uint32_t b) { return (a * 2654435761u ^ b * 40503u) % 7 < 3; });
}

TEST(BlockSort, EndsWhenItIsTold) {
  const Sorted sorted = SortBy(
      30'000, [](uint32_t a, uint32_t b) { return a > b; }, 5000);
  EXPECT_FALSE(sorted.completed);
  EXPECT_LE(sorted.questions, 5000 + BlockSorter::kBlock);
}

}  // namespace
}  // namespace hlod
