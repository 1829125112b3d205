// Checks for numbers that do not fit a type, and for zero divisors.
#include "client/tensor/ops/shape/whole_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/value/host.h"
#include "common/base/arithmetic.h"

namespace hlod::lazy {
namespace {

// Returns the largest finite number of a floating type, or infinity for types that are not limited here.
double Largest(PrimitiveType type) {
  switch (type) {
    case hlo::kF16: return 65504;
    case hlo::kBF16: return 0x1.fep127;
    case hlo::kF32:
    case hlo::kC64: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::infinity();
  }
}

template <typename T>
bool FitsInteger(const Scalar& number) {
  constexpr T kMax = std::numeric_limits<T>::max(), kMin = std::numeric_limits<T>::min();
  if (number.is_integer() || number.is_bool()) {
    const int64_t value = number.ToInt();
    if constexpr (std::is_signed_v<T>) return value >= kMin && value <= kMax;
    const uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    return size <= kMax;
  }
  const double value = number.ToDouble();
  // The largest 64-bit integer is not representable in f64 (it would round up), so the limit is the f64 below
  // the power of two.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double above = sizeof(T) < 8 ? static_cast<double>(kMax) : std::nextafter(end, 0);
  return value <= above && value >= (std::is_signed_v<T> ? static_cast<double>(kMin) : -above);
}

std::string Text(const Scalar& number) {
  if (number.is_integer()) return absl::StrCat(number.ToInt());
  if (number.is_complex()) return absl::StrCat(number.ToDouble(), " + ", number.ToComplex().imag(), "i");
  return absl::StrCat(number.ToDouble());
}

bool IsExact(PrimitiveType type) { return hlo::IsInteger(type) || type == hlo::kPred; }

}  // namespace

bool Fits(PrimitiveType type, const Scalar& number) {
  if (type == hlo::kPred) return true;
  if (number.is_complex() && number.ToComplex().imag() != 0 && !hlo::IsComplex(type)) return false;
  if (!hlo::IsInteger(type)) {
    const auto fits = [&](double part) { return !std::isfinite(part) || std::abs(part) <= Largest(type); };
    return fits(number.ToDouble()) && fits(number.ToComplex().imag());
  }
  bool fits = true;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) fits = FitsInteger<T>(number);
  });
  return fits;
}

void RequireFits(PrimitiveType type, const Scalar& number) {
  if (!Fits(type, number)) Refuse("the number %s does not fit %s", Text(number), hlo::Name(type));
}

void RequireFits(const Operation& operation, PrimitiveType type, const Operand& value) {
  if (value.tensor() != nullptr || Fits(type, value.scalar())) return;
  Explain(operation, {&value, 1}, value.caller(), [&] { RequireFits(type, value.scalar()); });
}

void RefuseBools(const Operation& operation, const Operand& x, const Operand& y) {
  const auto is_bool = [](const Operand& x) {
    if (x.tensor() == nullptr) return x.scalar().is_bool();
    return x.tensor()->defined() && x.tensor()->dtype() == hlo::kPred;
  };
  if (!is_bool(x) && !is_bool(y)) return;
  const Operand operands[] = {x, y};
  Explain(operation, operands, x.caller(),
          [] { Refuse("bools cannot be subtracted; use LogicalXor(), LogicalNot() or To()"); });
}

void RequireDivisor(const Operation& operation, const Operand& x, const Operand& y) {
  if (y.tensor() != nullptr || x.tensor() == nullptr || !x.tensor()->defined()) return;
  const Scalar& divisor = y.scalar();
  const bool exact = divisor.is_integer() || divisor.is_bool();
  if (!exact || divisor.ToInt() != 0 || !IsExact(x.tensor()->dtype())) return;
  const Operand operands[] = {x, y};
  Explain(operation, operands, y.caller(), [] { Refuse("integers are divided by 0"); });
}

void RequireNoZeros(Lowering& l, Op divisor) {
  if (l.graph.kind != Trace::Kind::kHost || !IsExact(l.type(divisor))) return;
  const std::shared_ptr<const Literal> values = Evaluate(l.graph, {l.Convert(divisor, hlo::kPred).id})[0];
  const absl::Span<const bool> nonzero = values->data<bool>();
  if (std::find(nonzero.begin(), nonzero.end(), false) != nonzero.end()) {
    Refuse("integers are divided by 0, which the divisor holds");
  }
}

int64_t SizeTimes(int64_t size, int64_t times) {
  const std::optional<int64_t> product = CheckedMultiply(size, times);
  if (!product.has_value()) Refuse("%d times %d elements are too many for a dimension", times, size);
  return *product;
}

}  // namespace hlod::lazy
