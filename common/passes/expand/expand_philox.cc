// Computes for each number the block that it is in, and selects its words: common/evaluator/rules/random.cc
// has the same as a loop.
#include "common/passes/expand/expand_philox.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/hlo/builder.h"
#include "common/passes/copy.h"

namespace hlod::passes {

using namespace hlo;

namespace {

bool IsPhilox(Instruction i) {
  if (i.opcode() != kRngBitGenerator ||
      i.attributes<RngBitGeneratorAttributes>().algorithm == RandomAlgorithm::kThreeFry) {
    return false;
  }
  const Shape &state = i.operand(0).shape(), &numbers = i.shape().tuple[1];
  return state.type == kU64 && state.rank() == 1 && (state.dims[0] == 2 || state.dims[0] == 3) &&
         IsInteger(numbers.type) && !numbers.HasDynamicDimension() && ElementCount(numbers).has_value();
}

class PhiloxExpansion {
 public:
  PhiloxExpansion(Module& to, Instruction generator)
      : numbers_(generator.shape().tuple[1]),
        wide_(Info(numbers_.type).bits == 64),
        b_(to, "philox"),
        state_(b_.Parameter(0, Shape::Array(kU64, generator.operand(0).shape().dims))) {
    numbers_.layout.reset();
  }

  ComputationId Make() {
    const bool has_high = b_.shape(state_).dims[0] == 3;
    const Op key = Word(0), low = Word(1), high = has_high ? Word(2) : key;
    const int64_t count = *ElementCount(numbers_);
    const auto [next_low, next_high] = Advanced(low, high, Number((count + PerBlock() - 1) / PerBlock()));
    std::vector<Op> next = {key, next_low};
    if (has_high) next.push_back(next_high);
    for (Op& word : next) word = b_.Reshape(word, {1});
    const Op results[] = {b_.Concatenate(next, 0), Numbers(key, low, high)};
    static_cast<void>(b_.Build(b_.Tuple(results)));
    return b_.id();
  }

 private:
  int64_t PerBlock() const { return wide_ ? 2 : 4; }
  Op Number(int64_t value) { return b_.Constant(Literal::Scalar(static_cast<uint64_t>(value))); }
  Op Number32(uint32_t value) { return b_.Constant(Literal::Scalar(value)); }
  Op Word(int64_t index) { return b_.Reshape(b_.Slice(state_, {index}, {index + 1}), {}); }
  Op Low(Op x) { return b_.Convert(x, kU32); }
  Op High(Op x) { return Low(b_.Binary(kShiftRightLogical, x, Number(32))); }
  Op Xor(Op x, Op y) { return b_.Binary(kXor, x, y); }

  // Adds to the counter of 128 bits.
  std::array<Op, 2> Advanced(Op low, Op high, Op blocks) {
    const Op sum = b_.Binary(kAdd, blocks, low);
    const Op carry = b_.Convert(b_.Compare(sum, Like(sum, low), ComparisonDirection::kLt), kU64);
    return {sum, b_.Binary(kAdd, carry, high)};
  }
  Op Like(Op array, Op scalar) {
    const Dims dims = b_.shape(array).dims;
    return dims.empty() ? scalar : b_.Broadcast(scalar, dims, {});
  }

  // Returns each number's place in row-major order. An iota per dimension is divided along that dimension.
  Op Places() {
    const Shape shape = Shape::Array(kU64, numbers_.dims);
    std::optional<Op> places;
    int64_t stride = 1;
    for (size_t d = numbers_.dims.size(); d-- > 0;) {
      const Op along = b_.Iota(shape, static_cast<int64_t>(d)) * Number(stride);
      places = places.has_value() ? *places + along : along;
      stride *= numbers_.dims[d];
    }
    return places.value_or(Number(0));
  }

  Op Numbers(Op key, Op low, Op high) {
    const Op places = Places();
    const Op block = b_.Binary(kShiftRightLogical, places, Number(wide_ ? 1 : 2));
    const Op word = b_.Binary(kAnd, places, Number(PerBlock() - 1));
    const auto [counter_low, counter_high] = Advanced(low, high, block);
    const std::array<Op, 4> x = Rounds(Low(key), High(key), counter_low, counter_high);
    const auto is = [&](int64_t which) {
      return b_.Compare(word, Like(word, Number(which)), ComparisonDirection::kEq);
    };
    if (wide_) return b_.Convert(b_.Select(is(0), Both(x[0], x[1]), Both(x[2], x[3])), numbers_.type);
    const Op second = b_.Select(is(2), x[2], x[3]);
    return b_.Convert(b_.Select(is(0), x[0], b_.Select(is(1), x[1], second)), numbers_.type);
  }
  Op Both(Op low, Op high) {
    return b_.Binary(kOr, b_.Convert(low, kU64), b_.Binary(kShiftLeft, b_.Convert(high, kU64), Number(32)));
  }

  std::array<Op, 4> Rounds(Op k0, Op k1, Op counter_low, Op counter_high) {
    std::array<Op, 4> x = {Low(counter_low), High(counter_low), Low(counter_high), High(counter_high)};
    for (int round = 0; round < 10; ++round) {
      const Op a = b_.Convert(x[0], kU64) * Number(0xD2511F53),
               c = b_.Convert(x[2], kU64) * Number(0xCD9E8D57);
      x = {Xor(Xor(High(c), x[1]), k0), Low(c), Xor(Xor(High(a), x[3]), k1), Low(a)};
      k0 = k0 + Number32(0x9E3779B9);
      k1 = k1 + Number32(0xBB67AE85);
    }
    return x;
  }

  Shape numbers_;
  const bool wide_;
  Builder b_;
  const Op state_;
};

}  // namespace

bool HasPhilox(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (IsPhilox(computation[id])) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> ExpandPhilox(const Module& module) {
  return WithFunctions(module, [](Instruction instruction, Module& to) -> std::optional<ComputationId> {
    if (!IsPhilox(instruction)) return std::nullopt;
    return PhiloxExpansion(to, instruction).Make();
  });
}

}  // namespace hlod::passes
