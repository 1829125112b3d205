// The formulas follow from identities of the functions, in a form that keeps the last bits near 0 and does
// not overflow early. They are for real numbers: complex numbers keep the opcode.
#include "client/tensor/trace/decompose_for_xla.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {
namespace {

using hlo::Builder;
using hlo::ComparisonDirection;

// A formula for `x`, which is f32 or f64, while it is being appended.
struct Formula {
  Builder& b;
  Op x;

  PrimitiveType type() const { return b.shape(x).type; }
  Op Number(double value) { return b.Constant(NumberLiteral(type(), value)); }
  Op Full(double value) { return b.Broadcast(Number(value), b.shape(x).dims, {}); }
  Op Unary(hlo::Opcode opcode, Op y) { return b.Unary(opcode, y); }
  Op Atan2(Op y, Op z) { return b.Binary(hlo::kAtan2, y, z); }
  Op Less(Op y, double limit) { return b.Compare(y, Full(limit), ComparisonDirection::kLt); }
  // The bound above which x * x overflows.
  double root() const {
    return std::sqrt(type() == kF64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max());
  }
};

// sqrt(1 - x^2), accurate also near 1.
Op Leg(Formula& f) { return f.Unary(hlo::kSqrt, (f.Number(1) - f.x) * (f.Number(1) + f.x)); }

Op Asin(Formula& f) { return f.Number(2) * f.Atan2(f.x, f.Number(1) + Leg(f)); }

Op Acos(Formula& f) { return f.Atan2(Leg(f), f.x); }

Op Atan(Formula& f) { return f.Atan2(f.x, f.Full(1)); }

// e^x / 2 as e^(x - log 2), which overflows only where the result does.
Op HalfExp(Formula& f, Op y) { return f.Unary(hlo::kExponential, y - f.Number(std::numbers::ln2)); }

Op Cosh(Formula& f) { return HalfExp(f, f.x) + HalfExp(f, f.Unary(hlo::kNegate, f.x)); }

Op Sinh(Formula& f) {
  const Op large = HalfExp(f, f.x) - HalfExp(f, f.Unary(hlo::kNegate, f.x));
  const Op e = f.Unary(hlo::kExponentialMinusOne, f.x);
  const Op small = f.Number(0.5) * (e + e / (e + f.Number(1)));
  return f.b.Select(f.Less(f.Unary(hlo::kAbs, f.x), 1), small, large);
}

Op Asinh(Formula& f) {
  const Op size = f.Unary(hlo::kAbs, f.x);
  const Op square = size * size;
  const Op small =
      f.Unary(hlo::kLogPlusOne, size + square / (f.Number(1) + f.Unary(hlo::kSqrt, square + f.Number(1))));
  const Op huge = f.Unary(hlo::kLog, size) + f.Number(std::numbers::ln2);
  return f.b.Binary(hlo::kMultiply, f.Unary(hlo::kSign, f.x),
                    f.b.Select(f.Less(size, f.root()), small, huge));
}

Op Acosh(Formula& f) {
  const Op one = f.Number(1);
  const Op usual = f.Unary(hlo::kLog, f.x + f.Unary(hlo::kSqrt, (f.x + one) * (f.x - one)));
  const Op huge = f.Unary(hlo::kLog, f.x) + f.Number(std::numbers::ln2);
  const Op result = f.b.Select(f.Less(f.x, f.root()), usual, huge);
  return f.b.Select(f.Less(f.x, 1), f.Full(std::numeric_limits<double>::quiet_NaN()), result);
}

Op Atanh(Formula& f) {
  return f.Number(0.5) *
         (f.Unary(hlo::kLogPlusOne, f.x) - f.Unary(hlo::kLogPlusOne, f.Unary(hlo::kNegate, f.x)));
}

struct Rewrite {
  hlo::Opcode opcode;
  Op (*formula)(Formula&);
};
constexpr std::array kRewrites = {
    Rewrite{hlo::kAcos, Acos},   Rewrite{hlo::kAcosh, Acosh}, Rewrite{hlo::kAsin, Asin},
    Rewrite{hlo::kAsinh, Asinh}, Rewrite{hlo::kAtan, Atan},   Rewrite{hlo::kAtanh, Atanh},
    Rewrite{hlo::kCosh, Cosh},   Rewrite{hlo::kSinh, Sinh},
};

const Rewrite* Find(hlo::Instruction instruction) {
  if (IsComplex(instruction.shape().type)) return nullptr;
  for (const Rewrite& row : kRewrites) {
    if (row.opcode == instruction.opcode()) return &row;
  }
  return nullptr;
}

}  // namespace

void DecomposeForXla::Prepare(const hlo::Computation& computation) {
  for (NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    const Rewrite* const row = lazy::Find(instruction);
    if (row == nullptr || computations_.contains({row->opcode, instruction.shape_id()})) continue;
    const Shape& shape = instruction.shape();
    Builder b(module_, std::string(hlo::Name(row->opcode)).append("_").append(hlo::Name(shape.type)));
    const Op parameter = b.Parameter(0, instruction.operand(0).shape());
    // Narrow floats are rounded once, at the end.
    Formula formula{b, b.Convert(parameter, shape.type == kF64 ? kF64 : kF32)};
    static_cast<void>(b.Build(b.Convert(row->formula(formula), shape.type)));
    computations_.emplace(std::pair(row->opcode, instruction.shape_id()), b.id());
  }
}

std::optional<hlo::ComputationId> DecomposeForXla::Find(hlo::Instruction instruction) const {
  const auto found = computations_.find({instruction.opcode(), instruction.shape_id()});
  if (found == computations_.end()) return std::nullopt;
  return found->second;
}

}  // namespace hlod::lazy
