// Sorting by recognised comparators: what a comparator says of its keys, keys as unsigned numbers, and the
// stable sort of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// Where a key has NaNs.
enum class NanOrder : uint8_t {
  kBySign,   // In total order: those with a sign before all numbers, the others behind all.
  kHighest,  // All equal, and above every number.
  kLowest,   // All equal, and below every number.
};

// One key of a comparator, the most significant first: operand `operand`, in this order. A descending key
// turns the order of all values, NaNs included.
struct SortKey {
  int operand = 0;
  hlo::PrimitiveType type = hlo::kInvalid;
  bool descending = false;
  bool zeros_equal = false;  // -0 counts as +0.
  NanOrder nans = NanOrder::kBySign;
  friend bool operator==(const SortKey&, const SortKey&) = default;
};

// The keys of a less-than computation, or nullopt when it is not a lexicographic comparison of its
// parameters. It goes by what the computation answers, not by how it is written. Where float keys are
// compared as numbers and NaN is neither less nor greater than anything, so that the order is not defined, it
// is highest. No keys: the computation is always false.
std::optional<std::vector<SortKey>> RecogniseComparator(const hlo::Computation& computation);

// The bits of a float as an unsigned number in a key's ascending order.
template <typename Bits>
Bits FloatKey(Bits bits, bool is_nan, const SortKey& key) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  if (is_nan && key.nans != NanOrder::kBySign)
    return key.nans == NanOrder::kHighest ? static_cast<Bits>(~Bits{0}) : Bits{0};
  if (key.zeros_equal && static_cast<Bits>(bits << 1) == 0) bits = 0;
  // In total order: negative ones with all bits turned, positive ones above them.
  return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
}

// Unsigned numbers in the order of a key's elements. 64-bit types give 64 bits, all others at most 32.
using KeyFunction = void (*)(const std::byte* elements, int64_t stride_bytes, int64_t count,
                             const SortKey& key, uint64_t* keys);
// Null for types without such numbers.
KeyFunction FindKeyFunction(hlo::PrimitiveType type);

// Scratch of a KeySorter for one line.
int64_t SortScratchBytes(int64_t count);
// A stable sort of 0..count-1 (count < 2^31) by one or several keys, the least significant first: order()
// holds it in the end.
class KeySorter {
 public:
  // `scratch`: SortScratchBytes(count). Once the run has to stop, as `stop` says, the rest is left out.
  KeySorter(std::byte* scratch, int64_t count, StopCheck& stop);
  // Sorts the current order stably by a key of `width` bytes. `elements` is the first of the line, its
  // neighbours `stride` bytes apart. False when the run has to stop.
  bool SortBy(KeyFunction function, const SortKey& key, const std::byte* elements, int64_t stride, int width);
  const uint32_t* order() const { return order_; }

 private:
  bool SortWord(int shift);

  const int64_t count_;
  StopCheck& stop_;
  uint64_t *keys_, *packed_, *other_;
  uint32_t *order_, *next_;
};

// sort_general.cc: any comparator, by merging ranks in blocks. Null when its computation is no
// ScalarFunction.
MaybeStep MakeGeneralSortStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// topk.cc
MaybeStep MakeTopKStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
