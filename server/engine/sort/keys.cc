// Maps elements to unsigned numbers in the same order, and sorts these with a stable radix sort.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/small_floats.h"
#include "server/engine/run/step_util.h"
#include "server/engine/sort/sort.h"

namespace hlod::engine {
namespace {

constexpr int64_t kRadixMin = 512;  // The length below which a comparison sort is faster.
constexpr int64_t kElementNs = 5;   // The time per element of a loop with random access to the line.

// Makes the keys of dense numbers.
template <typename T>
struct DenseKeys {
  static HLOD_ALWAYS_INLINE void Run(const T* elements, int64_t count, const SortKey* given, uint64_t flip,
                                     uint64_t* keys) {
    using Bits =
        std::make_unsigned_t<std::conditional_t<std::is_same_v<T, float>, int32_t,
                                                std::conditional_t<std::is_same_v<T, double>, int64_t, T>>>;
    const SortKey key = *given;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      auto bits = std::bit_cast<Bits>(elements[i]);
      if constexpr (std::is_floating_point_v<T>) bits = FloatKey(bits, elements[i] != elements[i], key);
      else if constexpr (std::is_signed_v<T>)
        bits = static_cast<Bits>(bits ^ (Bits{1} << (sizeof(Bits) * 8 - 1)));
      keys[i] = bits ^ flip;
    }
  }
};

template <typename T>
void MakeKeys(const std::byte* elements, int64_t stride, int64_t count, const SortKey& key, uint64_t* keys) {
  constexpr int kBits = sizeof(T) * 8;
  const uint64_t flip = !key.descending ? 0 : kBits == 64 ? ~uint64_t{0} : (uint64_t{1} << (kBits % 64)) - 1;
  if constexpr (std::is_arithmetic_v<T>) {
    if (stride == sizeof(T))
      return RunBest<DenseKeys<T>>(reinterpret_cast<const T*>(elements), count, &key, flip, keys);
  }
  for (int64_t i = 0; i < count; ++i, elements += stride) {
    uint64_t k;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || hlo::kIsSmallFloat<T>) {
      T value;
      std::memcpy(&value, elements, sizeof(T));
      std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>
          bits;
      std::memcpy(&bits, elements, sizeof(T));
      k = FloatKey(bits, value != value, key);
    } else {
      std::make_unsigned_t<T> bits;
      std::memcpy(&bits, elements, sizeof(T));
      if constexpr (std::is_signed_v<T>)
        bits = static_cast<std::make_unsigned_t<T>>(bits ^ (std::make_unsigned_t<T>{1} << (kBits - 1)));
      k = bits;
    }
    keys[i] = k ^ flip;
  }
}

// Keys of 8-bit floats are those of the equal f32, because the formats differ in NaN and -0.
template <typename T>
void MakeSmallKeys(const std::byte* elements, int64_t stride, int64_t count, const SortKey& key,
                   uint64_t* keys) {
  const uint64_t flip = key.descending ? ~uint32_t{0} : 0;
  for (int64_t i = 0; i < count; ++i, elements += stride) {
    const float value = WidenSmall(T::FromBits(static_cast<uint8_t>(*elements)));
    keys[i] = FloatKey(std::bit_cast<uint32_t>(value), value != value, key) ^ flip;
  }
}
KeyFunction FindSmallKeyFunction(hlo::PrimitiveType type) {
  KeyFunction found = nullptr;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr (hlo::kIsSmallFloat<T> && sizeof(T) == 1) found = MakeSmallKeys<T>;
  });
  return found;
}

}  // namespace

KeyFunction FindKeyFunction(hlo::PrimitiveType type) {
  switch (type) {
    case hlo::kPred:
    case hlo::kU8:
    case hlo::kU4:
    case hlo::kU2:
    case hlo::kU1: return MakeKeys<uint8_t>;
    case hlo::kS8:
    case hlo::kS4:
    case hlo::kS2:
    case hlo::kS1: return MakeKeys<int8_t>;
    case hlo::kU16: return MakeKeys<uint16_t>;
    case hlo::kS16: return MakeKeys<int16_t>;
    case hlo::kU32: return MakeKeys<uint32_t>;
    case hlo::kS32: return MakeKeys<int32_t>;
    case hlo::kU64: return MakeKeys<uint64_t>;
    case hlo::kS64: return MakeKeys<int64_t>;
    case hlo::kF16: return MakeKeys<hlo::F16>;
    case hlo::kBF16: return MakeKeys<hlo::BF16>;
    case hlo::kF32: return MakeKeys<float>;
    case hlo::kF64: return MakeKeys<double>;
    default: return FindSmallKeyFunction(type);
  }
}

int64_t SortScratchBytes(int64_t count) {
  return 3 * ScratchAlign(count * static_cast<int64_t>(sizeof(uint64_t))) +
         2 * ScratchAlign(count * static_cast<int64_t>(sizeof(uint32_t)));
}

KeySorter::KeySorter(std::byte* scratch, int64_t count, StopCheck& stop) : count_(count), stop_(stop) {
  const int64_t words = ScratchAlign(count * static_cast<int64_t>(sizeof(uint64_t)));
  keys_ = reinterpret_cast<uint64_t*>(scratch);
  packed_ = reinterpret_cast<uint64_t*>(scratch + words);
  other_ = reinterpret_cast<uint64_t*>(scratch + 2 * words);
  order_ = reinterpret_cast<uint32_t*>(scratch + 3 * words);
  next_ = reinterpret_cast<uint32_t*>(scratch + 3 * words +
                                      ScratchAlign(count * static_cast<int64_t>(sizeof(uint32_t))));
  stop_.ForPieces(count_, 1, [&](int64_t begin, int64_t end) {
    std::iota(order_ + begin, order_ + end, static_cast<uint32_t>(begin));
  });
}

bool KeySorter::SortBy(KeyFunction function, const SortKey& key, const std::byte* elements, int64_t stride,
                       int width) {
  const bool filled = stop_.ForPieces(count_, 1, [&](int64_t begin, int64_t end) {
    function(elements + begin * stride, stride, end - begin, key, keys_ + begin);
  });
  if (!filled) return false;
  bool in_order = true;  // The indices, which break ties, are in order already.
  const bool looked = stop_.ForPieces(count_ - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && in_order; ++i) in_order = keys_[order_[i]] <= keys_[order_[i + 1]];
  });
  if (!looked || in_order) return looked;
  return SortWord(0) && (width <= 4 || SortWord(32));
}

// Sorts by one 32-bit word of the keys. Each element is packed: the word in the upper half, its position in
// the current order in the lower half. So any sort of the packed numbers is stable, and a radix sort needs to
// use only the word.
bool KeySorter::SortWord(int shift) {
  const auto pack = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      packed_[i] = (keys_[order_[i]] >> shift) << 32 | static_cast<uint64_t>(i);
  };
  if (!stop_.ForPieces(count_, kElementNs, pack)) return false;
  if (count_ < kRadixMin) {
    std::sort(packed_, packed_ + count_);
  } else {
    constexpr int kDigitBits = 11, kDigits = 3;
    constexpr uint64_t kBuckets = 1 << kDigitBits;
    uint32_t histogram[kDigits][kBuckets] = {};
    const auto count = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t word = packed_[i] >> 32;
        for (int d = 0; d < kDigits; ++d) ++histogram[d][word >> (d * kDigitBits) & (kBuckets - 1)];
      }
    };
    if (!stop_.ForPieces(count_, 1, count)) return false;
    for (int d = 0; d < kDigits; ++d) {
      const int digit_shift = 32 + d * kDigitBits;
      const uint64_t first_digit = packed_[0] >> digit_shift & (kBuckets - 1);
      if (histogram[d][first_digit] == static_cast<uint64_t>(count_)) continue;  // All digits are equal.
      uint32_t at = 0;
      for (uint32_t& bucket : histogram[d]) at += std::exchange(bucket, at);
      const auto distribute = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const uint64_t value = packed_[i];
          other_[histogram[d][value >> digit_shift & (kBuckets - 1)]++] = value;
        }
      };
      if (!stop_.ForPieces(count_, kElementNs, distribute)) return false;
      std::swap(packed_, other_);
    }
  }
  const auto unpack = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) next_[i] = order_[static_cast<uint32_t>(packed_[i])];
  };
  if (!stop_.ForPieces(count_, kElementNs, unpack)) return false;
  std::swap(order_, next_);
  return true;
}

}  // namespace hlod::engine
