// iota: counts along one dimension, if the result must be stored.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "server/engine/movement/movement.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/small_floats.h"
#include "server/engine/tile/ops/ops.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

constexpr int64_t kExactInFloat = int64_t{1} << 24;

template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// Converts an index. Beyond kExactInFloat a small float would be rounded twice, unless kCareful is set.
template <typename T, bool kCareful>
HLOD_ALWAYS_INLINE T FromIndex(int64_t i) {
  if constexpr (kIsComplex<T>) {
    return T(static_cast<typename T::value_type>(i));
  } else if constexpr (std::is_same_v<T, bool>) {
    return i != 0;
  } else if constexpr (hlo::kIsSmallFloat<T> && kCareful) {
    return T(static_cast<double>(i));
  } else if constexpr (hlo::kIsSmallFloat<T>) {
    return RoundToSmall<T>(static_cast<float>(static_cast<int32_t>(i)));
  } else {
    return static_cast<T>(i);
  }
}

template <typename T>
struct CountKernel {
  static HLOD_ALWAYS_INLINE void Run(int64_t first, int64_t n, T* out) {
    if (hlo::kIsSmallFloat<T> && first + n > kExactInFloat) {
      for (int64_t i = 0; i < n; ++i) out[i] = FromIndex<T, true>(first + i);
      return;
    }
    if constexpr (std::is_same_v<T, hlo::F16>) {  // Uses the processor's conversion, where it has one.
      const TileFunction store = GetTileOps().store(hlo::kF16);
      float block[kTile];
      for (int64_t begin = 0; begin < n; begin += kTile) {
        const int count = static_cast<int>(std::min<int64_t>(kTile, n - begin));
        const auto from = static_cast<int32_t>(first + begin);
#pragma omp simd
        for (int i = 0; i < count; ++i) block[i] = static_cast<float>(from + i);
        store(out + begin, block, nullptr, nullptr, count, 0);
      }
      return;
    }
    if constexpr (kIsComplex<T>) {  // Written as pairs, because the compiler does not vectorise std::complex.
      auto* parts = reinterpret_cast<typename T::value_type*>(out);
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) {
        parts[2 * i] = static_cast<typename T::value_type>(first + i);
        parts[2 * i + 1] = 0;
      }
    } else {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) out[i] = FromIndex<T, false>(first + i);
    }
  }
};

class IotaStep final : public MovementStep {
 public:
  explicit IotaStep(hlo::Instruction instruction)
      : MovementStep(instruction), type_(instruction.shape().type) {
    const hlo::Dims& dims = instruction.shape().dims;
    const int64_t dimension = instruction.dimensions()[0];
    for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
      (d < dimension ? outer_ : d == dimension ? count_ : inner_) *= dims[d];
    }
  }

  absl::Status Run(const std::byte* const*, std::byte* const* outputs, StepContext& context) const override {
    absl::Status status;
    hlo::VisitType(type_, [&]<typename T>() { status = Fill(reinterpret_cast<T*>(outputs[0]), context); });
    return status;
  }

 private:
  template <typename T>
  absl::Status Fill(T* out, const StepContext& context) const {
    if (inner_ == 0) return absl::OkStatus();
    const int64_t elements = outer_ * count_ * inner_;
    // A row repeats one value `inner_` times; rows count up modulo count_. A piece may begin and end inside a
    // row.
    return ParallelPieces(context, elements, elements, [&](int64_t begin, int64_t end, int) {
      int64_t index = begin / inner_ % count_;
      if (inner_ == 1) {
        for (int64_t at = begin; at < end;) {
          const int64_t n = std::min(end - at, count_ - index);
          RunBest<CountKernel<T>>(index, n, out + at);
          at += n;
          index = 0;
        }
        return;
      }
      int64_t row_end = (begin / inner_ + 1) * inner_;
      for (int64_t at = begin; at < end; row_end += inner_) {
        const T value = FromIndex<T, true>(index);
        const int64_t stretch_end = std::min(end, row_end);
        hlod::engine::Fill(reinterpret_cast<const std::byte*>(&value), sizeof(T), stretch_end - at,
                           reinterpret_cast<std::byte*>(out + at));
        at = stretch_end;
        if (++index == count_) index = 0;
      }
    });
  }

  hlo::PrimitiveType type_;
  int64_t outer_ = 1, count_ = 1, inner_ = 1;
};

}  // namespace

MaybeStep MakeIotaStep(hlo::Instruction instruction) { return std::make_unique<IotaStep>(instruction); }

}  // namespace hlod::engine
