// compare: six directions, by the order of numbers or the total order of floats.
#include <bit>

#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/kernel.h"

namespace hlod::evaluator {
namespace {

using hlo::ComparisonDirection;

// Maps a float to an integer in the order -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN: its bits are sign
// and magnitude, which become two's complement. Widening a float to double keeps this order.
int64_t TotalOrder(double value) {
  const auto bits = std::bit_cast<int64_t>(value);
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits - 1 : bits;
}

// Compares elements by `key`. With NaN, all directions except `ne` are false, as in C++.
template <typename C, typename Key>
KernelFunction ByKey(ComparisonDirection direction, Key) {
  const auto make = [](auto f) { return MakeBinary<C, uint64_t>(f); };
  switch (direction) {
    case ComparisonDirection::kEq: return make([](C a, C b) { return uint64_t{Key()(a) == Key()(b)}; });
    case ComparisonDirection::kNe: return make([](C a, C b) { return uint64_t{Key()(a) != Key()(b)}; });
    default: break;
  }
  if constexpr (!std::is_same_v<C, Complex>) {
    switch (direction) {
      case ComparisonDirection::kGe: return make([](C a, C b) { return uint64_t{Key()(a) >= Key()(b)}; });
      case ComparisonDirection::kGt: return make([](C a, C b) { return uint64_t{Key()(a) > Key()(b)}; });
      case ComparisonDirection::kLe: return make([](C a, C b) { return uint64_t{Key()(a) <= Key()(b)}; });
      case ComparisonDirection::kLt: return make([](C a, C b) { return uint64_t{Key()(a) < Key()(b)}; });
      default: break;
    }
  }
  return nullptr;
}

}  // namespace

KernelFunction FindCompareKernel(const hlo::CompareAttributes& attributes, hlo::PrimitiveType type) {
  return VisitCarrier(CarrierOf(type), [&]<typename C>() {
    if constexpr (std::is_same_v<C, double>) {
      if (attributes.type == hlo::ComparisonType::kTotalOrder) {
        return ByKey<C>(attributes.direction, [](double x) { return TotalOrder(x); });
      }
    }
    return ByKey<C>(attributes.direction, [](C x) { return x; });
  });
}

}  // namespace hlod::evaluator
