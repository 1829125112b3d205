// Conversions to and from the types that contractions compute in.
#include "server/engine/run/compute_types.h"

#include <type_traits>

#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/small_floats.h"

namespace hlod::engine {
namespace {

template <typename From, typename To>
struct ConvertKernel {
  static HLOD_ALWAYS_INLINE void Run(const From* from, To* to, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (hlo::kIsSmallFloat<From>) {
        to[i] = static_cast<To>(WidenSmall(from[i]));
      } else if constexpr (hlo::kIsSmallFloat<To> && std::is_same_v<From, float>) {
        to[i] = RoundToSmall<To>(from[i]);
      } else if constexpr (hlo::kIsSmallInt<From>) {
        to[i] = static_cast<To>(static_cast<int>(from[i]));
      } else {
        to[i] = static_cast<To>(from[i]);
      }
    }
  }
};
template <typename From, typename To>
void Convert(const std::byte* from, std::byte* to, int64_t count) {
  RunBest<ConvertKernel<From, To>>(reinterpret_cast<const From*>(from), reinterpret_cast<To*>(to), count);
}

template <typename From, typename To>
struct ComplexKernel {
  static HLOD_ALWAYS_INLINE void Run(const From* from, PlainComplex<To>* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_arithmetic_v<From>) {
        to[i] = {static_cast<To>(from[i]), To{0}};
      } else {
        to[i] = {static_cast<To>(from[i].re), static_cast<To>(from[i].im)};
      }
    }
  }
};
template <typename From, typename To>
void ConvertComplex(const std::byte* from, std::byte* to, int64_t count) {
  ComplexKernel<From, To>::Run(reinterpret_cast<const From*>(from), reinterpret_cast<PlainComplex<To>*>(to),
                               count);
}

template <typename To>
ConvertFunction FindToComplex(hlo::PrimitiveType from) {
  switch (from) {
    case hlo::kF32: return ConvertComplex<float, To>;
    case hlo::kF64: return ConvertComplex<double, To>;
    case hlo::kC64: return ConvertComplex<PlainComplex<float>, To>;
    case hlo::kC128: return ConvertComplex<PlainComplex<double>, To>;
    default: return nullptr;
  }
}

template <typename T>
inline constexpr bool kIsReal = hlo::kIsSmallInt<T> || hlo::kIsSmallFloat<T> || std::is_arithmetic_v<T>;
template <typename T>
inline constexpr bool kIsWhole = std::is_integral_v<T> || hlo::kIsSmallInt<T>;

// Returns null if there is no such conversion.
ConvertFunction FindConvert(hlo::PrimitiveType from, hlo::PrimitiveType to) {
  ConvertFunction found = nullptr;
  if (to == hlo::kC64) return FindToComplex<float>(from);
  if (to == hlo::kC128) return FindToComplex<double>(from);
  hlo::VisitType(from, [&]<typename T>() {
    if constexpr (kIsReal<T>) {
      if (to == hlo::kF32) found = Convert<T, float>;
      if (to == hlo::kF64) found = Convert<T, double>;
      if constexpr (kIsWhole<T>) {
        if (to == hlo::kU32) found = Convert<T, uint32_t>;
        if (to == hlo::kU64) found = Convert<T, uint64_t>;
      }
    }
  });
  if (found != nullptr) return found;
  hlo::VisitType(to, [&]<typename T>() {
    if constexpr (hlo::kIsSmallFloat<T>) {
      if (from == hlo::kF32) found = Convert<float, T>;
      if (from == hlo::kF64) found = Convert<double, T>;
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (from == hlo::kU32) found = Convert<uint32_t, T>;
      if (from == hlo::kU64) found = Convert<uint64_t, T>;
    } else if constexpr (hlo::kIsSmallInt<T>) {
      if (from == hlo::kU32) found = Convert<uint32_t, T>;
    }
  });
  return found;
}

}  // namespace

hlo::PrimitiveType ContractionType(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs,
                                   hlo::PrimitiveType result) {
  const auto any = [&](hlo::PrimitiveType type) { return lhs == type || rhs == type || result == type; };
  if (hlo::IsComplex(result)) return any(hlo::kC128) || any(hlo::kF64) ? hlo::kC128 : hlo::kC64;
  if (hlo::IsComplex(lhs) || hlo::IsComplex(rhs)) return hlo::kInvalid;
  if (hlo::IsFloat(result)) return any(hlo::kF64) ? hlo::kF64 : hlo::kF32;
  if (!hlo::IsInteger(result) || hlo::IsFloat(lhs) || hlo::IsFloat(rhs)) return hlo::kInvalid;
  return hlo::Info(result).bits > 32 ? hlo::kU64 : hlo::kU32;
}

std::optional<ConvertFunction> FindConversion(hlo::PrimitiveType from, hlo::PrimitiveType to) {
  const bool integers = hlo::IsInteger(from) && hlo::IsInteger(to) && hlo::Info(from).bits >= 8;
  if (from == to || (integers && hlo::Info(from).bits == hlo::Info(to).bits)) return nullptr;
  const ConvertFunction convert = FindConvert(from, to);
  if (convert == nullptr) return std::nullopt;
  return convert;
}

absl::Status ConvertParallel(ConvertFunction convert, const std::byte* from, int from_width, std::byte* to,
                             int to_width, int64_t count, const StepContext& context) {
  return ParallelPieces(context, count, count, [&](int64_t begin, int64_t end, int) {
    convert(from + begin * from_width, to + begin * to_width, end - begin);
  });
}

}  // namespace hlod::engine
