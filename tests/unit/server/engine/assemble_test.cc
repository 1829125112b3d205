// Machine code for fused steps: random programs have the same bits as when they are interpreted, on AVX2 and, where
// the processor has it, on AVX-512.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/system/cpu.h"
#include "common/base/system/cpu_limit.h"
#include "common/hlo/builder.h"
#include "common/hlo/text/text.h"
#include "server/engine/assemble/assembler.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::Literal;
using hlo::Op;
using hlo::PrimitiveType;
using hlo::Shape;

constexpr PrimitiveType kFloats[] = {hlo::kF32, hlo::kBF16, hlo::kF16, hlo::kF64};
constexpr PrimitiveType kIntegers[] = {hlo::kS32, hlo::kU32, hlo::kS64, hlo::kU64,
                                       hlo::kS8,  hlo::kU8,  hlo::kS16, hlo::kU16};

// Fills an array with numbers of all magnitudes, and some special ones.
Literal SpecialValues(const Shape& shape, std::mt19937& random) {
  Literal numbers(Shape::Array(hlo::kF64, shape.dims));
  for (double& number : numbers.data<double>()) {
    const int kind = static_cast<int>(random() % 16);
    const double unit = static_cast<double>(random()) / 4294967296.0;
    number = (unit - 0.5) * (kind < 10 ? 8 : 300);
    if (kind == 10) number = std::ldexp(unit - 0.5, static_cast<int>(random() % 300) - 150);
    if (kind == 11) number = hlo::IsFloat(shape.type) ? std::nan("") : 0;
    if (kind == 12) number = (random() & 1) != 0 ? 0.0 : -0.0;
    if (kind == 13 && hlo::IsFloat(shape.type)) number = (random() & 1) != 0 ? INFINITY : -INFINITY;
    if (kind == 14) number = std::trunc(number);
    if (shape.type == hlo::kPred) number = random() & 1;
  }
  absl::StatusOr<Literal> converted = Convert(numbers, shape.type);
  EXPECT_TRUE(converted.ok()) << converted.status();
  return *std::move(converted);
}

// Returns true when the elements have the same bits; any NaN equals any other, because the processor chooses a
// payload by the order of the operands.
bool SameBits(const Literal& a, const Literal& b) {
  if (a.bytes() == b.bytes()) return true;
  if (!hlo::IsFloat(a.shape().type)) return false;
  const absl::StatusOr<Literal> x = Convert(a, hlo::kF64), y = Convert(b, hlo::kF64);
  const auto width = static_cast<size_t>(hlo::ByteWidth(a.shape().type));
  for (size_t i = 0; i < static_cast<size_t>(a.element_count()); ++i) {
    if (std::isnan(x->data<double>()[i]) && std::isnan(y->data<double>()[i])) continue;
    if (std::memcmp(a.bytes().data() + i * width, b.bytes().data() + i * width, width) != 0) return false;
  }
  return true;
}

std::string FirstDifference(const Literal& a, const Literal& b) {
  const absl::StatusOr<Literal> x = Convert(a, hlo::kF64), y = Convert(b, hlo::kF64);
  for (size_t i = 0; i < static_cast<size_t>(a.element_count()); ++i) {
    const double p = x->data<double>()[i], q = y->data<double>()[i];
    if (!(p == q) && !(std::isnan(p) && std::isnan(q)))
      return absl::StrFormat("element %d of %s is %.17g, interpreted %.17g", i,
                             hlo::ToStringNoLayout(a.shape()), p, q);
  }
  return "the bits of zeros differ";
}

// Grows programs of random operations on arrays [rows, columns].
class Programs {
 public:
  explicit Programs(uint32_t seed) : random_(seed) {}

  // Returns a module with `size` operations on arrays of that shape, and `reductions` of rows, columns or all
  // elements, which are read again.
  std::unique_ptr<hlo::Module> Make(int64_t rows, int64_t columns, int size, int reductions = 0) {
    auto module = std::make_unique<hlo::Module>("random");
    dims_ = {rows, columns};
    ChooseTypes();
    for (const PrimitiveType type : types_) {
      for (const hlo::Opcode opcode : {hlo::kAdd, hlo::kMultiply, hlo::kMinimum, hlo::kMaximum}) {
        if (reductions > 0 && type != hlo::kPred)
          reducers_[type].push_back(hlo::AddScalarReducer(*module, opcode, type));
      }
    }
    Builder b(*module, "main");
    Open(b);
    std::vector<Op> results;
    for (int i = 0; i < size; ++i) Grow(b);
    for (int i = 0; i < reductions; ++i) {
      Reduce(b, results);
      for (int j = 0; j < 3; ++j) Grow(b);
    }
    for (auto& [type, ops] : values_) {
      if (!ops.empty()) results.push_back(ops.back());
    }
    const absl::Status status = b.Build(b.Tuple(results));
    EXPECT_TRUE(status.ok()) << status;
    values_.clear();
    return module;
  }

 private:
  int Roll(size_t n) { return static_cast<int>(random_() % n); }
  template <typename List>
  auto Any(const List& list) {
    return list[random_() % std::size(list)];
  }
  Op Value(PrimitiveType type) { return Any(values_[type]); }
  void Keep(PrimitiveType type, Op op) { values_[type].push_back(op); }

  void ChooseTypes() {
    types_ = {hlo::kPred, hlo::kF32, Any(kFloats), Any(kFloats), Any(kIntegers), Any(kIntegers)};
    std::sort(types_.begin(), types_.end());
    types_.erase(std::unique(types_.begin(), types_.end()), types_.end());
  }

  // Reduces a value, and keeps the result as a broadcast one.
  void Reduce(Builder& b, std::vector<Op>& results) {
    const PrimitiveType type = Roll(2) == 0 ? hlo::kF32 : Any(types_);
    if (type == hlo::kPred) return;
    const Op init = b.Constant(Literal(Shape::Scalar(type)));
    const hlo::ComputationId reducer = Any(reducers_[type]);
    const int kind = Roll(6);
    // Reading a value once more makes its producer part of the reduction's pass.
    const Op value = b.Binary(hlo::kAdd, Value(type), Value(type));
    if (kind == 0) {
      results.push_back(b.Reduce(value, init, {0, 1}, reducer));
    } else if (kind == 1) {
      const Op sums = b.Reduce(value, init, {0}, reducer);
      results.push_back(sums);
      Keep(type, b.Broadcast(sums, dims_, {1}));
    } else {
      const Op sums = b.Reduce(value, init, {1}, reducer);
      if (kind == 2) results.push_back(sums);
      const Op scaled = kind == 3 ? b.Binary(hlo::kMultiply, sums, sums) : sums;
      Keep(type, b.Broadcast(scaled, dims_, {0}));
    }
  }

  // Makes parameters of each type: whole arrays, rows, columns, scalars; and an iota.
  void Open(Builder& b) {
    int number = 0;
    for (const PrimitiveType type : types_) {
      Keep(type, b.Parameter(number++, Shape::Array(type, dims_)));
      const Op other = b.Parameter(number++, Shape::Array(type, dims_));
      const Op row = b.Parameter(number++, Shape::Array(type, {dims_[1]}));
      const Op column = b.Parameter(number++, Shape::Array(type, {dims_[0]}));
      const Op scalar = b.Parameter(number++, Shape::Scalar(type));
      Keep(type, other);
      switch (Roll(4)) {
        case 0: Keep(type, b.Broadcast(row, dims_, {1})); break;
        case 1: Keep(type, b.Broadcast(column, dims_, {0})); break;
        case 2: Keep(type, b.Broadcast(scalar, dims_, {})); break;
        default:
          if (type != hlo::kPred) Keep(type, b.Iota(Shape::Array(type, dims_), Roll(2)));
      }
    }
  }

  void Grow(Builder& b) {
    const PrimitiveType type = Any(types_);
    switch (Roll(10)) {
      case 0: Keep(hlo::kPred, b.Compare(Value(type), Value(type), static_cast<hlo::ComparisonDirection>(Roll(6)))); return;
      case 1: Keep(type, b.Select(Value(hlo::kPred), Value(type), Value(type))); return;
      case 2: {
        const PrimitiveType to = Any(types_);
        Keep(to, b.Convert(Value(type), to));
        return;
      }
      case 3: Keep(type, b.Clamp(Value(type), Value(type), Value(type))); return;
      default: break;
    }
    if (type == hlo::kPred) {
      constexpr hlo::Opcode kOnPreds[] = {hlo::kAnd, hlo::kOr, hlo::kXor, hlo::kNot};
      const hlo::Opcode opcode = Any(kOnPreds);
      Keep(type, opcode == hlo::kNot ? b.Unary(opcode, Value(type)) : b.Binary(opcode, Value(type), Value(type)));
    } else if (hlo::IsFloat(type)) {
      GrowFloat(b, type);
    } else {
      GrowInteger(b, type);
    }
  }

  void GrowFloat(Builder& b, PrimitiveType type) {
    constexpr hlo::Opcode kUnary[] = {hlo::kAbs,   hlo::kNegate, hlo::kSqrt,  hlo::kRsqrt, hlo::kExponential,
                                      hlo::kTanh,  hlo::kLogistic, hlo::kFloor, hlo::kCeil, hlo::kSign,
                                      hlo::kExponentialMinusOne, hlo::kRoundNearestEven};
    constexpr hlo::Opcode kSingle[] = {hlo::kLog, hlo::kLogPlusOne, hlo::kErf};
    constexpr hlo::Opcode kBinary[] = {hlo::kAdd,    hlo::kSubtract, hlo::kMultiply,
                                       hlo::kDivide, hlo::kMinimum,  hlo::kMaximum};
    const int kind = Roll(8);
    if (kind == 0) Keep(hlo::kPred, b.Unary(hlo::kIsFinite, Value(type)));
    else if (kind == 1 && type != hlo::kF64) Keep(type, b.Unary(Any(kSingle), Value(type)));
    else if (kind < 4) Keep(type, b.Unary(Any(kUnary), Value(type)));
    else Keep(type, b.Binary(Any(kBinary), Value(type), Value(type)));
  }

  void GrowInteger(Builder& b, PrimitiveType type) {
    constexpr hlo::Opcode kUnary[] = {hlo::kAbs, hlo::kNegate, hlo::kNot, hlo::kSign};
    constexpr hlo::Opcode kBinary[] = {hlo::kAdd,     hlo::kSubtract,  hlo::kMultiply,
                                       hlo::kMinimum, hlo::kMaximum,   hlo::kAnd,
                                       hlo::kOr,      hlo::kXor,       hlo::kShiftLeft,
                                       hlo::kShiftRightLogical, hlo::kShiftRightArithmetic};
    if (Roll(4) == 0) {
      const hlo::Opcode opcode = Any(kUnary);
      if (opcode != hlo::kAbs || hlo::IsSigned(type)) Keep(type, b.Unary(opcode, Value(type)));
      return;
    }
    Keep(type, b.Binary(Any(kBinary), Value(type), Value(type)));
  }

  std::mt19937 random_;
  std::vector<int64_t> dims_;
  std::vector<PrimitiveType> types_;
  std::map<PrimitiveType, std::vector<Op>> values_;
  std::map<PrimitiveType, std::vector<hlo::ComputationId>> reducers_;
};

// The instruction sets that this process may use.
std::vector<CpuLevel> Levels() {
  std::vector<CpuLevel> levels;
  for (const CpuLevel level : {CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    if (level <= BestCpuLevel()) levels.push_back(level);
  }
  return levels;
}

// Limits the instruction set of the plans that are made while it exists.
class Limited {
 public:
  explicit Limited(CpuLevel level) : before_(CpuLimit()) { LimitCpu(level); }
  ~Limited() { LimitCpu(before_); }

 private:
  const std::optional<CpuLevel> before_;
};

struct Counts {
  int64_t steps = 0, kernels = 0;
};

// Runs the module interpreted and as machine code, and expects the same bits.
void ExpectSameBits(const hlo::Module& module, Assembler& assembler, std::mt19937& random, Counts* counts) {
  const auto shared = std::shared_ptr<Assembler>(&assembler, [](Assembler*) {});
  const auto plan = Compile(module, {.threads = 2, .assembler = nullptr});
  const auto assembled = Compile(module, {.threads = 2, .assembler = shared});
  ASSERT_TRUE(plan.ok() && assembled.ok()) << plan.status() << assembled.status();
  (*assembled)->AssembleNow();
  counts->steps += (*plan)->stats().fused_steps;
  counts->kernels += (*assembled)->kernels();
  std::vector<Literal> arguments;
  for (const Shape& shape : (*plan)->arguments()) arguments.push_back(SpecialValues(shape, random));
  const auto expected = RunPlan(**plan, arguments), actual = RunPlan(**assembled, arguments);
  ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  for (size_t r = 0; r < expected->size(); ++r) {
    ASSERT_TRUE(SameBits((*actual)[r], (*expected)[r]))
        << "result " << r << ": " << FirstDifference((*actual)[r], (*expected)[r]) << "\n"
        << ToText(module);
  }
}

class Assemble : public testing::TestWithParam<CpuLevel> {};
INSTANTIATE_TEST_SUITE_P(All, Assemble, testing::ValuesIn(Levels()), [](const auto& info) {
  return std::string(Name(info.param));
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Assemble);

TEST_P(Assemble, RandomProgramsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  Assembler assembler({});
  std::mt19937 random(7);
  Counts counts;
  for (uint32_t seed = 0; seed < 400 && !HasFatalFailure(); ++seed) {
    constexpr std::pair<int64_t, int64_t> kDims[] = {{1, 1},  {1, 15}, {1, 16},  {1, 17},   {10, 10}, {3, 100},
                                                     {5, 64}, {1, 4095}, {4, 1024}, {65, 127}};
    const auto [rows, columns] = kDims[seed % std::size(kDims)];
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectSameBits(*Programs(seed).Make(rows, columns, 2 + static_cast<int>(seed % 40)), assembler, random, &counts);
  }
  // Some conversions have no translation.
  EXPECT_GT(counts.kernels, counts.steps / 2) << "of " << counts.steps;
}

TEST_P(Assemble, RandomReductionsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  Assembler assembler({});
  std::mt19937 random(11);
  Counts counts;
  for (uint32_t seed = 0; seed < 200 && !HasFatalFailure(); ++seed) {
    constexpr std::pair<int64_t, int64_t> kDims[] = {{70, 100}, {3, 64},   {9, 1000}, {200, 17}, {5, 513},
                                                     {64, 600}, {2, 5000}, {1, 4096}, {33, 96}};
    const auto [rows, columns] = kDims[seed % std::size(kDims)];
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const int size = static_cast<int>(seed % 12), reductions = 1 + static_cast<int>(seed % 5);
    ExpectSameBits(*Programs(seed).Make(rows, columns, size, reductions), assembler, random, &counts);
  }
  EXPECT_GT(counts.kernels, counts.steps / 3) << "of " << counts.steps;
}

// A sum that is split into chunks, of columns and of everything.
TEST_P(Assemble, LargeReductionsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  Assembler assembler({});
  std::mt19937 random(13);
  Counts counts;
  for (uint32_t seed = 0; seed < 12 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectSameBits(*Programs(seed).Make(600, 700, 3, 3), assembler, random, &counts);
  }
  EXPECT_GT(counts.kernels, 0);
}

// Returns a module of two groups that are computed row by row: one group has at most 96 operations.
std::unique_ptr<hlo::Module> LongChainOfRows(int64_t rows, int64_t columns) {
  auto module = std::make_unique<hlo::Module>("rows");
  const hlo::ComputationId sum = hlo::AddScalarReducer(*module, hlo::kAdd, hlo::kF32);
  Builder b(*module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {rows, columns}));
  std::vector<Op> results;
  Op value = x;
  for (int i = 0; i < 110; ++i) {
    value = b.Binary(i % 2 == 0 ? hlo::kMultiply : hlo::kSubtract, value, x);
    if (i == 1) results.push_back(b.Reduce(value, b.Constant(Literal(Shape::Scalar(hlo::kF32))), {1}, sum));
  }
  results.push_back(value);
  EXPECT_TRUE(b.Build(b.Tuple(results)).ok());
  return module;
}

// Stores past the caches need addresses that are multiples of a vector; blocks of rows begin at any address.
TEST_P(Assemble, OutputsLargerThanTheLastCache) {
  const Limited limited(GetParam());
  Assembler assembler({.last_cache_bytes = 1});
  std::mt19937 random(17);
  Counts counts;
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1000, 19}, {700, 127}, {3, 5001}})
    ExpectSameBits(*LongChainOfRows(rows, columns), assembler, random, &counts);
  for (uint32_t seed = 0; seed < 100 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectSameBits(*Programs(seed).Make(67, 129, 8, static_cast<int>(seed % 3)), assembler, random, &counts);
  }
  EXPECT_GT(counts.kernels, 0);
}

TEST(Assembler, WithoutMemoryForCodeProgramsStayInterpreted) {
  std::mt19937 random(3);
  Counts counts;
  Assembler assembler({.code_bytes_max = 0});
  ExpectSameBits(*Programs(5).Make(3, 100, 10), assembler, random, &counts);
  EXPECT_EQ(counts.kernels, 0);
  EXPECT_EQ(assembler.code_bytes(), 0);
}

TEST(Assembler, APlanGivesItsCodeBack) {
  if (!Assembler::Supported()) GTEST_SKIP() << "This processor has no AVX2.";
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  const auto module = Programs(5).Make(3, 100, 10);
  auto plan = Compile(*module, {.threads = 1, .assembler = assembler});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT((*plan)->kernels(), 0);
  EXPECT_GT(assembler->code_bytes(), 0);
  EXPECT_LE(assembler->code_bytes(), (*plan)->code_bytes_max());
  plan->reset();
  EXPECT_EQ(assembler->code_bytes(), 0);
}

TEST(Assembler, TheSecondRunRequestsMachineCode) {
  if (!Assembler::Supported()) GTEST_SKIP() << "This processor has no AVX2.";
  const auto module = Programs(5).Make(3, 100, 10);
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{});
  const auto plan = Compile(*module, {.threads = 1, .assembler = assembler});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<Literal> arguments;
  for (const Shape& shape : (*plan)->arguments()) arguments.push_back(Sample(shape, 1));
  ASSERT_TRUE(RunPlan(**plan, arguments).ok());
  EXPECT_EQ(assembler->requests(), 0);
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(RunPlan(**plan, arguments).ok());
  EXPECT_EQ(assembler->requests(), 1);
}

}  // namespace
}  // namespace hlod::engine
