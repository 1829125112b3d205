// Sorting by recognised comparators: the keys that a comparator compares, their unsigned numbers, and a
// stable sort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/system/cpu.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// The position of a key's NaNs.
enum class NanOrder : uint8_t {
  kBySign,   // By total order: negative NaNs before all numbers, the others after all.
  kHighest,  // All equal, and above every number.
  kLowest,   // All equal, and below every number.
};

// One key of a comparator, the most significant first: the order of operand `operand`. A descending key
// reverses the order of all values, NaNs included.
struct SortKey {
  int operand = 0;
  hlo::PrimitiveType type = hlo::kInvalid;
  bool descending = false;
  bool zeros_equal = false;  // True when -0 equals +0.
  NanOrder nans = NanOrder::kBySign;
  friend bool operator==(const SortKey&, const SortKey&) = default;
};

// Returns the keys of a less-than computation, or nullopt when it is not a lexicographic comparison of its
// parameters. This depends on the computation's results, not on how it is written. If float keys are compared
// as numbers, so that NaN is neither less nor greater than any and the order is undefined, NaN is treated as
// the highest. The list is empty when the computation is always false.
std::optional<std::vector<SortKey>> RecogniseComparator(const hlo::Computation& computation);

// Returns the bits of a float as an unsigned number in a key's ascending order.
template <typename Bits>
HLOD_ALWAYS_INLINE Bits FloatKey(Bits bits, bool is_nan, const SortKey& key) {
  constexpr int kShift = sizeof(Bits) * 8 - 1;
  constexpr auto kSign = static_cast<Bits>(Bits{1} << kShift);
  const Bits nan = key.nans == NanOrder::kHighest ? static_cast<Bits>(~Bits{0}) : Bits{0};
  bits = key.zeros_equal && static_cast<Bits>(bits << 1) == 0 ? Bits{0} : bits;
  // In total order: negative numbers have all bits inverted, positive ones come above them.
  const auto inverted = static_cast<Bits>((Bits{0} - (bits >> kShift)) | kSign);
  return is_nan && key.nans != NanOrder::kBySign ? nan : static_cast<Bits>(bits ^ inverted);
}

// Computes unsigned numbers in the order of a key's elements. 64-bit types yield 64 bits, all others at most
// 32.
using KeyFunction = void (*)(const std::byte* elements, int64_t stride_bytes, int64_t count,
                             const SortKey& key, uint64_t* keys);
// Returns null for types without such numbers.
KeyFunction FindKeyFunction(hlo::PrimitiveType type);

// Returns the scratch bytes of a KeySorter for one line.
int64_t SortScratchBytes(int64_t count);
// A stable sort of 0..count-1 (count < 2^31) by one or several keys, the least significant first. order()
// holds the result.
class KeySorter {
 public:
  // `scratch` has SortScratchBytes(count) bytes. When `stop` says that the run must stop, the remaining work
  // is left out.
  KeySorter(std::byte* scratch, int64_t count, StopCheck& stop);
  // Sorts the current order stably by a key of `width` bytes. `elements` is the first element of the line,
  // and neighbours are `stride` bytes apart. Returns false when the run has to stop.
  bool SortBy(KeyFunction function, const SortKey& key, const std::byte* elements, int64_t stride, int width);
  const uint32_t* order() const { return order_; }

 private:
  bool SortWord(int shift);

  const int64_t count_;
  StopCheck& stop_;
  uint64_t *keys_, *packed_, *other_;
  uint32_t *order_, *next_;
};

// Defined in general.cc: for any comparator, by merging ranks in blocks. Returns null if its computation
// cannot be a ScalarFunction.
MaybeStep MakeGeneralSortStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// Defined in topk.cc.
MaybeStep MakeTopKStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
