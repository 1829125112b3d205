// Operations are chosen by type, so that every program is valid; what cannot be fused becomes another step.
#include "tests/unit/server/engine/assemble/random_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/hlo/text/text.h"

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::Literal;
using hlo::Op;
using hlo::Opcode;
using hlo::PrimitiveType;
using hlo::Shape;

constexpr PrimitiveType kFloats[] = {hlo::kF32, hlo::kF32, hlo::kBF16, hlo::kF16, hlo::kF64};
constexpr PrimitiveType kIntegers[] = {hlo::kS32, hlo::kU32, hlo::kS64, hlo::kU64,
                                       hlo::kS8,  hlo::kU8,  hlo::kS16, hlo::kU16};
constexpr PrimitiveType kSmallFloats[] = {hlo::kF8E4M3FN, hlo::kF8E5M2};

double SpecialNumber(PrimitiveType type, std::mt19937& random) {
  const int kind = static_cast<int>(random() % 16);
  const double unit = static_cast<double>(random()) / 4294967296.0;
  if (type == hlo::kPred) return random() & 1;
  switch (kind) {
    case 10: return std::ldexp(unit - 0.5, static_cast<int>(random() % 300) - 150);
    case 11: return hlo::IsFloat(type) ? std::nan("") : 0;
    case 12: return (random() & 1) != 0 ? 0.0 : -0.0;
    case 13:
      if (hlo::IsFloat(type)) return (random() & 1) != 0 ? INFINITY : -INFINITY;
      break;
    case 14: return std::trunc((unit - 0.5) * 300);
    default: break;
  }
  return (unit - 0.5) * (kind < 10 ? 8 : 300);
}

}  // namespace

Literal SpecialValues(const Shape& shape, std::mt19937& random) {
  if (random() % 6 == 0 && shape.type != hlo::kPred) {
    Literal bits(shape);
    for (std::byte& byte : bits.bytes()) byte = static_cast<std::byte>(random());
    return bits;
  }
  Literal numbers(Shape::Array(hlo::kF64, shape.dims));
  for (double& number : numbers.data<double>()) number = SpecialNumber(shape.type, random);
  absl::StatusOr<Literal> converted = Convert(numbers, shape.type);
  EXPECT_TRUE(converted.ok()) << converted.status();
  return *std::move(converted);
}

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

std::string FirstDifference(const Literal& actual, const Literal& expected) {
  const absl::StatusOr<Literal> x = Convert(actual, hlo::kF64), y = Convert(expected, hlo::kF64);
  for (size_t i = 0; i < static_cast<size_t>(actual.element_count()); ++i) {
    const double p = x->data<double>()[i], q = y->data<double>()[i];
    if (!(p == q) && !(std::isnan(p) && std::isnan(q)))
      return absl::StrFormat("element %d of %s is %.17g, expected %.17g", i,
                             hlo::ToStringNoLayout(actual.shape()), p, q);
  }
  return "the bits of zeros or of large integers differ";
}

std::unique_ptr<hlo::Module> RandomPrograms::Make(const std::vector<int64_t>& dims, int size,
                                                  int reductions) {
  auto module = std::make_unique<hlo::Module>("random");
  dims_ = dims;
  ChooseTypes();
  for (const Type type : types_) {
    for (const Opcode opcode : {hlo::kAdd, hlo::kMultiply, hlo::kMinimum, hlo::kMaximum}) {
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

void RandomPrograms::ChooseTypes() {
  types_ = {hlo::kPred, hlo::kF32, Any(kFloats), Any(kFloats), Any(kIntegers), Any(kIntegers)};
  if (Roll(6) == 0) types_.push_back(Any(kSmallFloats));
  std::sort(types_.begin(), types_.end());
  types_.erase(std::unique(types_.begin(), types_.end()), types_.end());
}

Op RandomPrograms::View(Builder& b, Type type, int number) {
  std::vector<int64_t> some, which;
  if (Roll(4) == 0) {
    // A slice of a larger array.
    std::vector<int64_t> start, limit, larger;
    for (const int64_t dim : dims_) {
      start.push_back(Roll(3));
      limit.push_back(start.back() + dim);
      larger.push_back(limit.back() + Roll(2));
    }
    return b.Slice(b.Parameter(number, Shape::Array(type, larger)), start, limit);
  }
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (Roll(2) == 0) continue;
    some.push_back(dims_[d]);
    which.push_back(static_cast<int64_t>(d));
  }
  return b.Broadcast(b.Parameter(number, Shape::Array(type, some)), dims_, which);
}

void RandomPrograms::Open(Builder& b) {
  int number = 0;
  for (const Type type : types_) {
    Keep(type, b.Parameter(number++, Shape::Array(type, dims_)));
    Keep(type, b.Parameter(number++, Shape::Array(type, dims_)));
    Keep(type, View(b, type, number++));
    if (Roll(3) == 0) Keep(type, View(b, type, number++));
    if (Roll(4) == 0 && type != hlo::kPred && !dims_.empty())
      Keep(type, b.Iota(Shape::Array(type, dims_), Roll(dims_.size())));
  }
}

void RandomPrograms::Grow(Builder& b) {
  const Type type = Any(types_);
  switch (Roll(10)) {
    case 0:
      Keep(hlo::kPred, b.Compare(Value(type), Value(type), static_cast<hlo::ComparisonDirection>(Roll(6))));
      return;
    case 1: Keep(type, b.Select(Value(hlo::kPred), Value(type), Value(type))); return;
    case 2: {
      const Type to = Any(types_);
      Keep(to, b.Convert(Value(type), to));
      return;
    }
    case 3: Keep(type, b.Clamp(Value(type), Value(type), Value(type))); return;
    default: break;
  }
  if (type == hlo::kPred) {
    constexpr Opcode kOnPreds[] = {hlo::kAnd, hlo::kOr, hlo::kXor, hlo::kNot};
    const Opcode opcode = Any(kOnPreds);
    Keep(type,
         opcode == hlo::kNot ? b.Unary(opcode, Value(type)) : b.Binary(opcode, Value(type), Value(type)));
  } else if (hlo::IsFloat(type)) {
    GrowFloat(b, type);
  } else {
    GrowInteger(b, type);
  }
}

void RandomPrograms::GrowFloat(Builder& b, Type type) {
  constexpr Opcode kUnary[] = {hlo::kAbs,
                               hlo::kNegate,
                               hlo::kSqrt,
                               hlo::kRsqrt,
                               hlo::kExponential,
                               hlo::kTanh,
                               hlo::kLogistic,
                               hlo::kFloor,
                               hlo::kCeil,
                               hlo::kSign,
                               hlo::kExponentialMinusOne,
                               hlo::kRoundNearestEven,
                               hlo::kRoundNearestAfz};
  constexpr Opcode kRare[] = {hlo::kLog,    hlo::kLogPlusOne, hlo::kErf, hlo::kSine,
                              hlo::kCosine, hlo::kCbrt,       hlo::kTan};
  constexpr Opcode kBinary[] = {hlo::kAdd,    hlo::kSubtract, hlo::kMultiply,
                                hlo::kDivide, hlo::kMinimum,  hlo::kMaximum};
  constexpr Opcode kRareBinary[] = {hlo::kPower, hlo::kRemainder, hlo::kAtan2};
  const int kind = Roll(16);
  if (kind < 2) Keep(hlo::kPred, b.Unary(hlo::kIsFinite, Value(type)));
  else if (kind < 4) Keep(type, b.Unary(Any(kRare), Value(type)));
  else if (kind < 8) Keep(type, b.Unary(Any(kUnary), Value(type)));
  else if (kind == 8) Keep(type, b.Binary(Any(kRareBinary), Value(type), Value(type)));
  else if (kind == 9) Keep(type, b.Binary(hlo::kMaximum, Value(type), b.Convert(b.Constant(0.0f), type)));
  else Keep(type, b.Binary(Any(kBinary), Value(type), Value(type)));
}

void RandomPrograms::GrowInteger(Builder& b, Type type) {
  constexpr Opcode kUnary[] = {hlo::kAbs, hlo::kNegate, hlo::kNot, hlo::kSign, hlo::kPopcnt, hlo::kClz};
  constexpr Opcode kBinary[] = {hlo::kAdd,
                                hlo::kSubtract,
                                hlo::kMultiply,
                                hlo::kMinimum,
                                hlo::kMaximum,
                                hlo::kAnd,
                                hlo::kOr,
                                hlo::kXor,
                                hlo::kShiftLeft,
                                hlo::kShiftRightLogical,
                                hlo::kShiftRightArithmetic,
                                hlo::kDivide,
                                hlo::kRemainder};
  if (Roll(4) == 0) {
    const Opcode opcode = Any(kUnary);
    if (opcode != hlo::kAbs || hlo::IsSigned(type)) Keep(type, b.Unary(opcode, Value(type)));
    return;
  }
  Op amount = Value(type);
  const Opcode opcode = Any(kBinary);
  // A constant in every element.
  if (Roll(3) == 0) amount = b.Convert(b.Constant(Literal::Scalar<int32_t>(Roll(9))), type);
  Keep(type, b.Binary(opcode, Value(type), amount));
}

void RandomPrograms::Reduce(Builder& b, std::vector<Op>& results) {
  const Type type = Roll(2) == 0 ? hlo::kF32 : Any(types_);
  if (type == hlo::kPred) return;
  const Op init = b.Constant(Literal(Shape::Scalar(type)));
  const hlo::ComputationId reducer = Any(reducers_[type]);
  // Reading a value once more makes its producer part of the reduction's pass.
  const Op value = b.Binary(hlo::kAdd, Value(type), Value(type));
  std::vector<int64_t> reduced, kept;
  const int kind = Roll(6);
  for (size_t d = 0; d < dims_.size(); ++d) {
    const bool last = d + 1 == dims_.size();
    const bool reduces = kind == 0 || (kind == 1 ? d == 0 : last);
    (reduces ? reduced : kept).push_back(static_cast<int64_t>(d));
  }
  const Op sums = b.Reduce(value, init, reduced, reducer);
  if (kind <= 2) results.push_back(sums);
  const Op scaled = kind == 3 ? b.Binary(hlo::kMultiply, sums, sums) : sums;
  Keep(type, b.Broadcast(scaled, dims_, kept));
}

void RandomPrograms::OpenState(Builder& b, Op state) {
  values_.clear();
  int64_t number = 1;
  for (const Type type : types_) {
    Keep(type, b.GetTupleElement(state, number++));
    Keep(type, b.GetTupleElement(state, number++));
  }
}

std::vector<Op> RandomPrograms::Last(Op counter) {
  std::vector<Op> state = {counter};
  for (const Type type : types_) {
    state.push_back(values_[type].back());
    state.push_back(Any(values_[type]));
  }
  return state;
}

hlo::ComputationId RandomPrograms::Condition(hlo::Module& module, const Shape& state, int iterations) {
  Builder b(module, "condition");
  const Op counter = b.GetTupleElement(b.Parameter(0, state), 0);
  const absl::Status status = b.Build(
      b.Compare(counter, b.Constant(Literal::Scalar<int32_t>(iterations)), hlo::ComparisonDirection::kLt));
  EXPECT_TRUE(status.ok()) << status;
  return b.id();
}

Op RandomPrograms::NestedLoop(Builder& b, hlo::ComputationId condition, hlo::ComputationId body) {
  return b.While(b.Tuple(Last(b.Constant(Literal::Scalar<int32_t>(0)))), condition, body);
}

hlo::ComputationId RandomPrograms::Body(hlo::Module& module, const Shape& state, int size, bool nested) {
  hlo::ComputationId condition = 0, inner = 0, branch = 0, other = 0;
  if (nested) {
    condition = Condition(module, state, 3);
    inner = Body(module, state, size, false);
    branch = Body(module, state, 1, false);
    other = Body(module, state, 2, false);
  }
  Builder b(module, "body");
  const Op before = b.Parameter(0, state);
  OpenState(b, before);
  const Op counter = b.GetTupleElement(before, 0);
  for (int i = 0; i < size; ++i) Grow(b);
  if (nested) {
    OpenState(b, NestedLoop(b, condition, inner));
    for (int i = 0; i < size; ++i) Grow(b);
    const Op odd = b.Compare(b.Binary(hlo::kAnd, counter, b.Constant(Literal::Scalar<int32_t>(1))),
                             b.Constant(Literal::Scalar<int32_t>(0)), hlo::ComparisonDirection::kNe);
    const Op all = b.Tuple(Last(counter));
    OpenState(b, b.Conditional(odd, {all, all}, {branch, other}));
  }
  const Op next = b.Binary(hlo::kAdd, counter, b.Constant(Literal::Scalar<int32_t>(1)));
  const absl::Status status = b.Build(b.Tuple(Last(next)));
  EXPECT_TRUE(status.ok()) << status;
  return b.id();
}

std::unique_ptr<hlo::Module> RandomPrograms::MakeLoop(const std::vector<int64_t>& dims, int size,
                                                      int iterations, bool nested) {
  auto module = std::make_unique<hlo::Module>("random_loop");
  dims_ = dims;
  ChooseTypes();
  std::vector<Shape> leaves = {Shape::Scalar(hlo::kS32)};
  for (const Type type : types_) leaves.insert(leaves.end(), 2, Shape::Array(type, dims));
  const Shape state = Shape::Tuple(leaves);
  const hlo::ComputationId condition = Condition(*module, state, iterations),
                           body = Body(*module, state, size, nested);
  Builder b(*module, "main");
  std::vector<Op> start = {b.Constant(Literal::Scalar<int32_t>(0))};
  for (size_t i = 1; i < leaves.size(); ++i)
    start.push_back(b.Parameter(static_cast<int64_t>(i) - 1, leaves[i]));
  const absl::Status status = b.Build(b.While(b.Tuple(start), condition, body));
  EXPECT_TRUE(status.ok()) << status;
  values_.clear();
  return module;
}

}  // namespace hlod::engine
