// rng-bit-generator, and rng, which draws from a counter of the program. Threefry-2x32 and Philox-4x32-10 of
// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC11), laid out over the
// result as in XLA: 8- and 16-bit numbers are the low bits of a 32-bit one, 64-bit numbers consist of two,
// the low word first.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/elements/random_key.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// Runs twenty rounds on two words, and adds a subkey after every fourth.
std::array<uint32_t, 2> ThreeFry(uint64_t key, uint64_t counter) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {Low(key), High(key), Low(key) ^ High(key) ^ 0x1BD11BDA};
  uint32_t x0 = Low(counter) + keys[0], x1 = High(counter) + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

// Runs ten rounds on four words.
std::array<uint32_t, 4> Philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t k0 = Low(key), k1 = High(key);
  std::array<uint32_t, 4> x = {Low(counter_low), High(counter_low), Low(counter_high), High(counter_high)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
    x = {High(b) ^ x[1] ^ k0, Low(b), High(a) ^ x[3] ^ k1, Low(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

// Returns the dimension along which Threefry's two words alternate: the first one of even size, otherwise the
// largest.
size_t PairDimension(const Dims& dims) {
  size_t largest = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] % 2 == 0) return d;
    if (dims[d] > dims[largest]) largest = d;
  }
  return largest;
}

// Fills in random numbers. A block has 64 bits: one number of a wide type, otherwise two numbers that are
// neighbours along PairDimension.
absl::Status FillThreeFry(Evaluation& evaluation, uint64_t key, uint64_t& counter, const Dims& dims,
                          bool wide, std::vector<uint64_t>& numbers) {
  const uint64_t first = counter;
  if (wide || dims.empty()) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      RETURN_IF_ERROR(evaluation.Tick(100));
      const std::array<uint32_t, 2> words = ThreeFry(key, first + i);
      numbers[i] = words[0] | uint64_t{words[1]} << 32;
    }
    counter += numbers.size();
    return absl::OkStatus();
  }
  const size_t pair = PairDimension(dims);
  Dims halves = dims;
  halves[pair] = (dims[pair] + 1) / 2;
  const Dims strides = hlo::RowMajorStrides(dims);
  uint64_t block = 0;
  for (Odometer at(halves); at.valid(); at.Next(), ++block) {
    RETURN_IF_ERROR(evaluation.Tick(100));
    const std::array<uint32_t, 2> words = ThreeFry(key, first + block);
    const int64_t even = Offset(at.index(), strides) + at[pair] * strides[pair];
    numbers[even] = words[0];
    if (2 * at[pair] + 1 < dims[pair]) numbers[even + strides[pair]] = words[1];
  }
  counter += block;
  return absl::OkStatus();
}

// Fills in numbers in row-major order, four words per block. The counter has 128 bits.
absl::Status FillPhilox(Evaluation& evaluation, uint64_t key, uint64_t& counter_low, uint64_t& counter_high,
                        bool wide, std::vector<uint64_t>& numbers) {
  const size_t per_block = wide ? 2 : 4;
  for (size_t i = 0; i < numbers.size(); i += per_block) {
    RETURN_IF_ERROR(evaluation.Tick(100));
    const std::array<uint32_t, 4> words = Philox(key, counter_low, counter_high);
    for (size_t j = 0; j < per_block && i + j < numbers.size(); ++j) {
      numbers[i + j] = wide ? words[2 * j] | uint64_t{words[2 * j + 1]} << 32 : words[j];
    }
    if (++counter_low == 0) ++counter_high;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> RngBitGenerator(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const hlo::Shape& state_shape = operands[0].shape();
  const hlo::Shape& shape = instruction.shape().tuple[1];
  const auto algorithm = instruction.attributes<hlo::RngBitGeneratorAttributes>().algorithm;
  const bool three_fry = algorithm == hlo::RandomAlgorithm::kThreeFry;
  const int64_t words = state_shape.type == hlo::kU64 && state_shape.rank() == 1 ? state_shape.dims[0] : 0;
  if (words != 2 && !(words == 3 && !three_fry)) {
    return Unimplemented("%s: the state of rng-bit-generator is u64[2], for philox also u64[3], not %s",
                         instruction.name(), ToStringNoLayout(state_shape));
  }
  if (!hlo::IsInteger(shape.type)) {
    return Unimplemented("%s: rng-bit-generator makes integers, not %s", instruction.name(),
                         ToStringNoLayout(shape));
  }
  Literal state = operands.Take(0);
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(shape));
  const auto state_words = state.data<uint64_t>();
  const bool wide = hlo::Info(shape.type).bits == 64;
  std::vector<uint64_t> numbers(result.element_count());
  if (three_fry) {
    RETURN_IF_ERROR(FillThreeFry(evaluation, state_words[0], state_words[1], shape.dims, wide, numbers));
  } else {
    uint64_t high = words == 3 ? state_words[2]
                               : state_words[0];  // If the counter has no high half, the key is used for it.
    RETURN_IF_ERROR(FillPhilox(evaluation, state_words[0], state_words[1], high, wide, numbers));
    if (words == 3) state_words[2] = high;
  }
  Store(shape.type, numbers.data(), result.element_count(), result.bytes().data());
  std::vector<Literal> both;
  both.push_back(std::move(state));
  both.push_back(std::move(result));
  return Literal::MakeTuple(std::move(both));
}

absl::StatusOr<Literal> RngState(Evaluation& evaluation, Instruction instruction, Operands) {
  const int64_t delta = instruction.attributes<hlo::RngStateAttributes>().delta;
  const std::array<uint64_t, 2> state =
      evaluation.random().Of(instruction).Take(static_cast<uint64_t>(delta));
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  std::copy(state.begin(), state.end(), result.data<uint64_t>().begin());
  return result;
}

namespace {

// Returns numbers in [0, 1) from random bits: their high bits fill the mantissa of `Float`.
template <typename Float>
Float Unit(uint64_t bits) {
  if constexpr (sizeof(Float) == 8)
    return static_cast<Float>(std::ldexp(static_cast<double>(bits >> 12), -52));
  else return static_cast<Float>(std::ldexp(static_cast<float>(Low(bits) >> 9), -23));
}

// Converts `numbers` to floats in [low, high). Each operation is rounded as in a program of these types.
template <typename Float>
std::vector<double> UniformFloats(const std::vector<uint64_t>& numbers, double low, double high) {
  const Float a = static_cast<Float>(low), width = static_cast<Float>(high) - a;
  std::vector<double> values;
  for (const uint64_t bits : numbers) {
    const Float scaled = Unit<Float>(bits) * width;
    values.push_back(scaled + a);
  }
  return values;
}

// Box and Muller: the first half of the numbers determine radii, the second half angles; sines come before
// cosines.
template <typename Float>
std::vector<double> NormalFloats(const std::vector<uint64_t>& numbers, double mean, double deviation) {
  const size_t pairs = numbers.size() / 2;
  std::vector<double> values(numbers.size());
  for (size_t i = 0; i < pairs; ++i) {
    const Float u = std::max(Unit<Float>(numbers[i]), static_cast<Float>(1e-7f));
    const Float angle = static_cast<Float>(static_cast<float>(2 * M_PI)) * Unit<Float>(numbers[pairs + i]);
    const Float radius = std::sqrt(static_cast<Float>(-2) * std::log(u));
    const Float a = static_cast<Float>(mean), b = static_cast<Float>(deviation);
    values[i] = a + b * (std::sin(angle) * radius);
    values[pairs + i] = a + b * (std::cos(angle) * radius);
  }
  return values;
}

// Returns integers in [low, high); arbitrary ones for an empty range.
template <typename Unsigned>
std::vector<uint64_t> UniformIntegers(const std::vector<uint64_t>& numbers, uint64_t low, uint64_t high) {
  const auto range = static_cast<Unsigned>(high - low);
  std::vector<uint64_t> values;
  for (const uint64_t bits : numbers) {
    const auto number = static_cast<Unsigned>(bits);
    values.push_back(static_cast<Unsigned>(low + (range == 0 ? number : number % range)));
  }
  return values;
}

}  // namespace

absl::StatusOr<Literal> Rng(Evaluation& evaluation, Instruction instruction, Operands operands) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  const hlo::PrimitiveType type = instruction.shape().type;
  const bool wide = hlo::Info(type).bits == 64;
  const bool normal =
      instruction.attributes<hlo::RngAttributes>().distribution == hlo::RandomDistribution::kNormal;
  const auto count = static_cast<size_t>(result.element_count());
  std::array<uint64_t, 2> state =
      evaluation.random().Of(instruction).Take(static_cast<uint64_t>(count) * (wide ? 2 : 1));
  std::vector<uint64_t> numbers(normal ? count + count % 2 : count);
  RETURN_IF_ERROR(FillPhilox(evaluation, hlo::RandomKey(evaluation.module(), instruction), state[0], state[1],
                             wide, numbers));
  if (hlo::IsFloat(type)) {
    const double a = LoadAs<double>(operands[0])[0], b = LoadAs<double>(operands[1])[0];
    const std::vector<double> values =
        normal ? wide ? NormalFloats<double>(numbers, a, b) : NormalFloats<float>(numbers, a, b)
        : wide ? UniformFloats<double>(numbers, a, b)
               : UniformFloats<float>(numbers, a, b);
    Store(type, values.data(), result.element_count(), result.bytes().data());
    return result;
  }
  const uint64_t low = LoadAs<uint64_t>(operands[0])[0], high = LoadAs<uint64_t>(operands[1])[0];
  const std::vector<uint64_t> values =
      wide ? UniformIntegers<uint64_t>(numbers, low, high) : UniformIntegers<uint32_t>(numbers, low, high);
  Store(type, values.data(), result.element_count(), result.bytes().data());
  return result;
}

}  // namespace hlod::evaluator
