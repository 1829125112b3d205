// rng-bit-generator: Threefry-2x32 and Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers:
// as easy as 1, 2, 3", SC11), in XLA's layout over the result. Numbers narrower than 32 bits are the low bits
// of one word.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/random.h"

namespace hlod::engine {
namespace {

constexpr int64_t kBatch = 64;  // The number of counters that are encrypted side by side.

HLOD_ALWAYS_INLINE uint32_t RotateLeft(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

// Computes words 0 and 1 of counters first, first + 1, ...
struct ThreeFryKernel {
  static HLOD_ALWAYS_INLINE void Run(uint64_t key, uint64_t first, uint32_t (*words)[kBatch]) {
    constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
    uint32_t *x0 = words[0], *x1 = words[1];
    for (int64_t i = 0; i < kBatch; ++i) {
      x0[i] = static_cast<uint32_t>(first + i) + keys[0];
      x1[i] = static_cast<uint32_t>((first + i) >> 32) + keys[1];
    }
    for (uint32_t group = 0; group < 5; ++group) {
      const int* rotations = kRotations[group % 2];
      const int r0 = rotations[0], r1 = rotations[1], r2 = rotations[2], r3 = rotations[3];
      const uint32_t a = keys[(group + 1) % 3], b = keys[(group + 2) % 3] + group + 1;
#pragma omp simd
      for (int64_t i = 0; i < kBatch; ++i) {
        uint32_t y0 = x0[i], y1 = x1[i];
        y0 += y1, y1 = RotateLeft(y1, r0) ^ y0;
        y0 += y1, y1 = RotateLeft(y1, r1) ^ y0;
        y0 += y1, y1 = RotateLeft(y1, r2) ^ y0;
        y0 += y1, y1 = RotateLeft(y1, r3) ^ y0;
        x0[i] = y0 + a;
        x1[i] = y1 + b;
      }
    }
  }
};

// Computes the four words of the 128-bit counters (low + i, high), with the carry in `high`.
struct PhiloxKernel {
  static HLOD_ALWAYS_INLINE void Run(uint64_t key, uint64_t low, uint64_t high, uint32_t (*words)[kBatch]) {
#pragma omp simd
    for (int64_t i = 0; i < kBatch; ++i) {
      const uint64_t l = low + static_cast<uint64_t>(i), h = high + (l < low ? 1 : 0);
      auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
      auto x0 = static_cast<uint32_t>(l), x1 = static_cast<uint32_t>(l >> 32);
      auto x2 = static_cast<uint32_t>(h), x3 = static_cast<uint32_t>(h >> 32);
      for (int round = 0; round < 10; ++round) {
        const uint64_t a = uint64_t{0xD2511F53} * x0, b = uint64_t{0xCD9E8D57} * x2;
        x0 = static_cast<uint32_t>(b >> 32) ^ x1 ^ k0;
        x1 = static_cast<uint32_t>(b);
        x2 = static_cast<uint32_t>(a >> 32) ^ x3 ^ k1;
        x3 = static_cast<uint32_t>(a);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
      }
      words[0][i] = x0, words[1][i] = x1, words[2][i] = x2, words[3][i] = x3;
    }
  }
};

class RandomStep final : public Step {
 public:
  explicit RandomStep(hlo::Instruction instruction) : Step(StepKind::kLibrary, DescribeStep(instruction)) {
    const hlo::Shape& result = instruction.shape().tuple[1];
    three_fry_ =
        instruction.attributes<hlo::RngBitGeneratorAttributes>().algorithm == hlo::RandomAlgorithm::kThreeFry;
    state_words_ = instruction.operand(0).shape().dims[0];
    width_ = Width(result);
    count_ = Elements(result);
    if (!three_fry_) {
      per_block_ = width_ == 8 ? 2 : 4;
    } else if (width_ == 8 || result.dims.empty()) {
      per_block_ = 1;
    } else {
      // The two words of a block are neighbours along the first dimension of even size, otherwise along the
      // largest dimension.
      size_t pair = 0;
      for (size_t d = 0; d < result.dims.size(); ++d) {
        if (result.dims[d] % 2 == 0) {
          pair = d;
          break;
        }
        if (result.dims[d] > result.dims[pair]) pair = d;
      }
      paired_ = true;
      size_ = result.dims[pair];
      half_ = (size_ + 1) / 2;
      for (size_t d = pair + 1; d < result.dims.size(); ++d) inner_ *= result.dims[d];
    }
    blocks_ = paired_ ? (size_ == 0 ? 0 : count_ / size_ * half_) : (count_ + per_block_ - 1) / per_block_;
    set_flops(static_cast<double>(count_));
    Share(0, 0);
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    uint64_t state[3] = {};
    std::memcpy(state, inputs[0], static_cast<size_t>(state_words_) * sizeof(uint64_t));
    // In Philox, if the counter has no high half of its own, the key is used for it.
    const uint64_t high = three_fry_ ? 0 : state_words_ == 3 ? state[2] : state[0];
    RETURN_IF_ERROR(ParallelPieces(
        context, (blocks_ + kBatch - 1) / kBatch, blocks_ * 16, [&](int64_t begin, int64_t end, int) {
          uint32_t words[4][kBatch];
          for (int64_t batch = begin; batch < end; ++batch) {
            const int64_t first = batch * kBatch, blocks = std::min(kBatch, blocks_ - first);
            const uint64_t counter = state[1] + static_cast<uint64_t>(first);
            if (three_fry_) {
              RunBest<ThreeFryKernel>(state[0], counter, static_cast<uint32_t(*)[kBatch]>(words));
            } else {
              RunBest<PhiloxKernel>(state[0], counter, high + (counter < state[1] ? 1 : 0),
                                    static_cast<uint32_t(*)[kBatch]>(words));
            }
            switch (width_) {
              case 1: Store<uint8_t>(words, first, blocks, outputs[1]); break;
              case 2: Store<uint16_t>(words, first, blocks, outputs[1]); break;
              case 4: Store<uint32_t>(words, first, blocks, outputs[1]); break;
              default: Store<uint64_t>(words, first, blocks, outputs[1]); break;
            }
          }
        }));
    const uint64_t before = state[1];
    state[1] += static_cast<uint64_t>(blocks_);
    if (!three_fry_ && state_words_ == 3 && state[1] < before) ++state[2];
    std::memcpy(outputs[0], state, static_cast<size_t>(state_words_) * sizeof(uint64_t));
    return absl::OkStatus();
  }

 private:
  // Stores a batch's words at the positions of the layout.
  template <typename T>
  void Store(const uint32_t (*words)[kBatch], int64_t first, int64_t blocks, std::byte* out) const {
    auto* to = reinterpret_cast<T*>(out);
    if (paired_) {
      int64_t inner = first % inner_, half = first / inner_ % half_, outer = first / inner_ / half_;
      for (int64_t b = 0; b < blocks; ++b) {
        T* even = to + (outer * size_ + 2 * half) * inner_ + inner;
        even[0] = static_cast<T>(words[0][b]);
        if (2 * half + 1 < size_) even[inner_] = static_cast<T>(words[1][b]);
        if (++inner < inner_) continue;
        inner = 0;
        if (++half < half_) continue;
        half = 0;
        ++outer;
      }
      return;
    }
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t j = 0; j < per_block_; ++j) {
        const int64_t at = (first + b) * per_block_ + j;
        if (at >= count_) break;
        if constexpr (sizeof(T) == 8) {
          to[at] = words[2 * j][b] | uint64_t{words[2 * j + 1][b]} << 32;
        } else {
          to[at] = static_cast<T>(words[j][b]);
        }
      }
    }
  }

  bool three_fry_ = false, paired_ = false;
  int64_t state_words_ = 2, count_ = 0, blocks_ = 0;
  int width_ = 4;
  int64_t per_block_ = 1;  // The numbers per block, if they are adjacent.
  int64_t size_ = 1, half_ = 1,
          inner_ = 1;  // The dimension of pairs, half of it rounded up, and the elements below it.
};

class RandomStateStep final : public Step {
 public:
  RandomStateStep(hlo::Instruction instruction, std::shared_ptr<RandomCounter> counter)
      : Step(StepKind::kMovement, DescribeStep(instruction)),
        delta_(static_cast<uint64_t>(instruction.attributes<hlo::RngStateAttributes>().delta)),
        counter_(std::move(counter)) {}

  absl::Status Run(const std::byte* const*, std::byte* const* outputs, StepContext&) const override {
    const std::array<uint64_t, 2> state = counter_->Take(delta_);
    std::memcpy(outputs[0], state.data(), sizeof(state));
    return absl::OkStatus();
  }

 private:
  const uint64_t delta_;
  const std::shared_ptr<RandomCounter> counter_;
};

}  // namespace

MaybeStep MakeRandomStateStep(hlo::Instruction instruction, std::shared_ptr<RandomCounter> counter) {
  return std::make_unique<RandomStateStep>(instruction, std::move(counter));
}

MaybeStep MakeRandomStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (instruction.opcode() != hlo::kRngBitGenerator || !AllStatic(instruction)) return nullptr;
  const hlo::Shape& state = instruction.operand(0).shape();
  const hlo::Shape& shape = instruction.shape();
  if (!shape.IsTuple() || shape.tuple.size() != 2) return nullptr;
  const hlo::Shape& result = shape.tuple[1];
  if (!hlo::IsInteger(result.type) || hlo::Info(result.type).bits < 8) return nullptr;
  if (state.type != hlo::kU64 || state.rank() != 1) return nullptr;
  const bool three_fry =
      instruction.attributes<hlo::RngBitGeneratorAttributes>().algorithm == hlo::RandomAlgorithm::kThreeFry;
  if (state.dims[0] != 2 && !(state.dims[0] == 3 && !three_fry)) return nullptr;
  return std::make_unique<RandomStep>(instruction);
}

}  // namespace hlod::engine
