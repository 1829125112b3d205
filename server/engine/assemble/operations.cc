// Translates by the kind of the call, then by its carrier. Integers of 8 and 16 bits are computed in 32 bits
// and wrapped after each operation, so that the unused bits always repeat the sign or are zero.
#include "server/engine/assemble/operations.h"

#include <bit>
#include <limits>
#include <optional>

#include "common/base/system/cpu.h"
#include "server/engine/assemble/math.h"

namespace hlod::engine::assemble {
namespace {

using hlo::Opcode;

bool IsIntegerCarrier(Carrier carrier) {
  return !IsFloatCarrier(carrier) && !IsComplexCarrier(carrier) && carrier != Carrier::kPred;
}

// Wraps a 32-bit element to a narrower carrier.
Num Wrapped(Lanes& l, const Num& value, Carrier carrier) {
  const int bits = CarrierBytes(carrier) * 8;
  if (bits >= 32) return value;
  if (!IsSignedCarrier(carrier)) return l.And(value, l.Bits((uint64_t{1} << bits) - 1, false));
  return l.ShiftRightSigned(l.ShiftLeft(value, 32 - bits), 32 - bits);
}

// One operation on one part, which is a vector of numbers.
class Arithmetic {
 public:
  Arithmetic(Lanes& lanes, const Call& call) : l_(lanes), call_(call) {}

  bool Unary(const Num& a, Num* out) const {
    return IsFloatCarrier(call_.from) ? UnaryFloat(a, out) : UnaryInteger(a, out);
  }
  bool Binary(const Num& a, const Num& b, Num* out) const {
    return IsFloatCarrier(call_.from) ? BinaryFloat(a, b, out) : BinaryInteger(a, b, out);
  }
  // Clamps between `low` and `high`.
  Num Clamp(const Num& low, const Num& x, const Num& high) const {
    if (IsFloatCarrier(call_.from)) return Minimum(Maximum(low, x), high);
    return Smaller(Larger(low, x), high);
  }

 private:
  bool UnaryFloat(const Num& a, Num* out) const;
  bool UnaryInteger(const Num& a, Num* out) const;
  bool BinaryFloat(const Num& a, const Num& b, Num* out) const;
  bool BinaryInteger(const Num& a, const Num& b, Num* out) const;
  bool Shift(const Num& a, const Num& amount, Num* out) const;
  Num Extreme(Order order, const Num& a, const Num& b) const {
    return l_.Select(l_.CompareInt(order, a, b, IsSignedCarrier(call_.from)), a, b);
  }
  Num Smaller(const Num& a, const Num& b) const { return Extreme(Order::kLt, a, b); }
  Num Larger(const Num& a, const Num& b) const { return Extreme(Order::kGt, a, b); }
  Num Zero(const Num& like) const { return l_.Bits(0, like.wide); }
  Num Wrap(const Num& value) const { return value.wide ? value : Wrapped(l_, value, call_.from); }

  Lanes& l_;
  const Call& call_;
};

bool Arithmetic::UnaryFloat(const Num& a, Num* out) const {
  const auto sets = [out](const Num& value) {
    *out = value;
    return true;
  };
  switch (call_.op.opcode) {
    case hlo::kAbs: return sets(Abs(a));
    case hlo::kNegate: return sets(Negate(a));
    case hlo::kSqrt: return sets(l_.Sqrt(a));
    case hlo::kRsqrt: return sets(1.0 / l_.Sqrt(a));
    case hlo::kExponential: return sets(Exp(a));
    case hlo::kExponentialMinusOne: return sets(Expm1(a));
    case hlo::kTanh: return sets(Tanh(a));
    case hlo::kLogistic: return sets(Logistic(a));
    case hlo::kFloor: return sets(l_.Round(a, 1));
    case hlo::kCeil: return sets(l_.Round(a, 2));
    case hlo::kRoundNearestEven: return sets(l_.Round(a, 0));
    case hlo::kSign: {
      const Num one = l_.Float(1.0, a.wide);
      const Num signs = l_.Select(l_.Compare(Order::kLt, a, Zero(a)), l_.Float(-1.0, a.wide), a);
      return sets(l_.Select(l_.Compare(Order::kGt, a, Zero(a)), one, signs));
    }
    case hlo::kLog: return sets(Log(a));
    case hlo::kLogPlusOne: return sets(Log1p(a));
    case hlo::kErf: return !a.wide && sets(Erf(a));
    default: return false;
  }
}

bool Arithmetic::BinaryFloat(const Num& a, const Num& b, Num* out) const {
  switch (call_.op.opcode) {
    case hlo::kAdd: *out = a + b; return true;
    case hlo::kSubtract: *out = a - b; return true;
    case hlo::kMultiply: *out = a * b; return true;
    case hlo::kDivide: *out = a / b; return true;
    case hlo::kMinimum: *out = Minimum(a, b); return true;
    case hlo::kMaximum: *out = Maximum(a, b); return true;
    default: return false;
  }
}

bool Arithmetic::UnaryInteger(const Num& a, Num* out) const {
  const Num zero = Zero(a);
  switch (call_.op.opcode) {
    case hlo::kNegate: *out = Wrap(l_.SubInt(zero, a)); return true;
    case hlo::kNot: *out = Wrap(l_.Xor(a, l_.Bits(~uint64_t{0}, a.wide))); return true;
    case hlo::kAbs:
      if (!IsSignedCarrier(call_.from)) *out = a;
      else *out = Wrap(l_.Select(l_.CompareInt(Order::kLt, a, zero, true), l_.SubInt(zero, a), a));
      return true;
    case hlo::kSign: {
      const Num one = l_.Bits(1, a.wide);
      const Mask positive =
          l_.CompareInt(IsSignedCarrier(call_.from) ? Order::kGt : Order::kNe, a, zero, true);
      const Num rest = IsSignedCarrier(call_.from) ? l_.ShiftRightSigned(a, a.wide ? 63 : 31) : zero;
      *out = l_.Select(positive, one, rest);
      return true;
    }
    default: return false;
  }
}

bool Arithmetic::BinaryInteger(const Num& a, const Num& b, Num* out) const {
  switch (call_.op.opcode) {
    case hlo::kAdd: *out = Wrap(l_.AddInt(a, b)); return true;
    case hlo::kSubtract: *out = Wrap(l_.SubInt(a, b)); return true;
    case hlo::kMultiply: *out = Wrap(l_.MulInt(a, b)); return true;
    case hlo::kMinimum: *out = Smaller(a, b); return true;
    case hlo::kMaximum: *out = Larger(a, b); return true;
    case hlo::kAnd: *out = l_.And(a, b); return true;
    case hlo::kOr: *out = l_.Or(a, b); return true;
    case hlo::kXor: *out = l_.Xor(a, b); return true;
    case hlo::kShiftLeft:
    case hlo::kShiftRightLogical:
    case hlo::kShiftRightArithmetic: return Shift(a, b, out);
    default: return false;
  }
}

// A shift by the type's width or more shifts all bits out. Negative amounts count as huge unsigned ones.
bool Arithmetic::Shift(const Num& a, const Num& amount, Num* out) const {
  const int bits = CarrierBytes(call_.from) * 8;
  if (call_.immediate != bits) return false;  // A type narrower than its carrier.
  const Num limit = l_.Bits(static_cast<uint64_t>(bits), a.wide);
  const Mask within = l_.CompareInt(Order::kLt, amount, limit, false);
  if (call_.op.opcode == hlo::kShiftLeft) {
    *out = Wrap(l_.SelectOrZero(within, l_.ShiftLeftBy(a, amount)));
  } else if (call_.op.opcode == hlo::kShiftRightLogical) {
    const Num own = bits < 32 ? l_.And(a, l_.Bits((uint64_t{1} << bits) - 1, false)) : a;
    *out = Wrap(l_.SelectOrZero(within, l_.ShiftRightBy(own, amount)));
  } else {
    if (bits < 32 && !IsSignedCarrier(call_.from)) return false;
    const Num most = l_.Bits(static_cast<uint64_t>(bits) - 1, a.wide);
    *out = l_.ShiftRightSignedBy(a, l_.Select(within, amount, most));
    if (bits < 32) *out = Wrap(*out);
  }
  return true;
}

// Elementwise operations on preds.
bool OnPreds(Lanes& l, const Call& call, Lane* out) {
  switch (call.op.opcode) {
    case hlo::kAdd:
    case hlo::kOr:
    case hlo::kMaximum: out->mask = l.Or(call.a.mask, call.b.mask); return true;
    case hlo::kMultiply:
    case hlo::kAnd:
    case hlo::kMinimum: out->mask = l.And(call.a.mask, call.b.mask); return true;
    case hlo::kXor: out->mask = l.Xor(call.a.mask, call.b.mask); return true;
    case hlo::kNot: out->mask = l.Not(call.a.mask); return true;
    default: return false;
  }
}

bool ComparePreds(Lanes& l, Order order, const Mask& a, const Mask& b, Lane* out) {
  switch (order) {
    case Order::kEq: out->mask = l.Not(l.Xor(a, b)); return true;
    case Order::kNe: out->mask = l.Xor(a, b); return true;
    case Order::kGe: out->mask = l.Or(a, l.Not(b)); return true;
    case Order::kGt: out->mask = l.And(a, l.Not(b)); return true;
    case Order::kLe: out->mask = l.Or(l.Not(a), b); return true;
    case Order::kLt: out->mask = l.And(l.Not(a), b); return true;
  }
  return false;
}

// Calls part(i) for the parts of a carrier, and joins the masks that it returns.
template <typename Part>
Mask ByPart(Lanes& l, Carrier carrier, Part part) {
  if (!IsWide(carrier)) return part(0);
  const Mask low = part(0), high = part(1);
  return l.Join(low, high);
}

// Returns the integer whose order is the total order of floats: the other bits of negative numbers are
// inverted.
Num TotalOrderKey(Lanes& l, const Num& value) {
  const Num sign = l.ShiftRightSigned(value, value.wide ? 63 : 31);
  return l.Xor(value, l.ShiftRight(sign, 1));
}

bool Compares(Lanes& l, const Call& call, Lane* out) {
  const bool total = (call.immediate >> 8) != 0;
  const auto order = static_cast<Order>(call.immediate & 0xff);
  if (call.from == Carrier::kPred) return ComparePreds(l, order, call.a.mask, call.b.mask, out);
  out->mask = ByPart(l, call.from, [&](size_t i) {
    const Num &a = call.a.part[i], &b = call.b.part[i];
    if (total && IsFloatCarrier(call.from))
      return l.CompareInt(order, TotalOrderKey(l, a), TotalOrderKey(l, b), true);
    return IsFloatCarrier(call.from) ? l.Compare(order, a, b)
                                     : l.CompareInt(order, a, b, IsSignedCarrier(call.from));
  });
  return true;
}

bool Selects(Lanes& l, const Call& call, Lane* out) {
  const Mask& mask = call.a.mask;
  if (call.result == Carrier::kPred) {
    out->mask = l.Or(l.And(mask, call.b.mask), l.And(l.Not(mask), call.c.mask));
    return true;
  }
  if (!IsWide(call.result)) {
    out->part[0] = l.Select(mask, call.b.part[0], call.c.part[0]);
    return true;
  }
  for (size_t i = 0; i < 2; ++i)
    out->part[i] = l.Select(l.HalfOf(mask, i == 1), call.b.part[i], call.c.part[i]);
  return true;
}

// Finite numbers are below infinity.
bool IsFinite(Lanes& l, const Call& call, Lane* out) {
  out->mask = ByPart(l, call.from, [&](size_t i) {
    const Num& a = call.a.part[i];
    return l.Compare(Order::kLt, Abs(a), l.Float(std::numeric_limits<double>::infinity(), a.wide));
  });
  return true;
}

// Splits a vector of 32-bit elements into halves, by an instruction that widens each.
void Widen(Lanes& l, uint32_t id, const Num& from, Lane* out) {
  x86::Compiler& cc = l.cc();
  const x86::Vec low = Lanes::Reg(l.InRegister(from));
  if (l.narrow()) {
    out->part[0] = l.NewNum(true);
    cc.emit(id, out->part[0].operand, low);
    out->part[1] = out->part[0];
    return;
  }
  const x86::Vec high = l.NewHalf();
  if (l.avx512()) cc.vextracti32x8(high, low, 1);
  else cc.vextracti128(high, low, 1);
  out->part[0] = l.NewNum(true);
  out->part[1] = l.NewNum(true);
  if (l.avx512()) cc.emit(id, out->part[0].operand, low.ymm());
  else cc.emit(id, out->part[0].operand, low.xmm());
  cc.emit(id, out->part[1].operand, high);
}

// Joins two vectors of 64-bit elements, by an instruction that narrows each.
Num Narrowed(Lanes& l, uint32_t id, const Lane& from) {
  x86::Compiler& cc = l.cc();
  const x86::Vec low = l.NewVec(), high = l.NewHalf();
  const Num a = l.InRegister(from.part[0]), b = l.InRegister(from.part[1]);
  if (l.narrow()) {
    cc.emit(id, low, a.operand);
    return {&l, false, low};
  }
  if (l.avx512()) cc.emit(id, low.ymm(), a.operand);
  else cc.emit(id, low.xmm(), a.operand);
  cc.emit(id, high, b.operand);
  const Num out = l.NewNum(false);
  if (l.avx512()) cc.emit(Inst::kIdVinserti32x8, out.operand, low, high, asmjit::Imm(1));
  else cc.emit(Inst::kIdVinserti128, out.operand, low, high, asmjit::Imm(1));
  return out;
}

// Returns the low halves of 64-bit integers.
Num Truncated(Lanes& l, const Lane& from) {
  if (l.avx512()) return Narrowed(l, Inst::kIdVpmovqd, from);
  Mask low, high;
  low.v = Lanes::Reg(l.InRegister(from.part[0]));
  high.v = Lanes::Reg(l.InRegister(from.part[1]));
  return {&l, false, l.Join(low, high).v};
}

// Returns the quotient or remainder by a constant power of two; nullopt for other divisors. A negative
// dividend is rounded up.
std::optional<Num> DividedByPower(Lanes& l, const Call& call) {
  const Num &a = call.a.part[0], &b = call.b.part[0];
  const bool is_signed = IsSignedCarrier(call.from), divides = call.op.opcode == hlo::kDivide;
  const auto divisor = static_cast<uint32_t>(b.bits);
  if (b.IsRegister() || !std::has_single_bit(divisor) || (is_signed && divisor >> 31 != 0))
    return std::nullopt;
  const int power = std::countr_zero(divisor);
  if (!is_signed)
    return divides ? (power == 0 ? a : l.ShiftRight(a, power)) : l.And(a, l.Bits(divisor - 1, false));
  if (power == 0) return divides ? a : l.Bits(0, false);
  const Num most = l.ShiftRight(l.ShiftRightSigned(a, 31), 32 - power);
  const Num quotient = l.ShiftRightSigned(l.AddInt(a, most), power);
  return divides ? quotient : l.SubInt(a, l.ShiftLeft(quotient, power));
}

// Returns the quotient or remainder of integers of at most 32 bits, by a division of doubles as in
// QuotientBelow64.
Num Divided(Lanes& l, const Call& call) {
  if (const std::optional<Num> simple = DividedByPower(l, call)) return *simple;
  constexpr double kMagic = 6755399441055744.0, kUnsignedMagic = 4503599627370496.0;
  const bool is_signed = IsSignedCarrier(call.from);
  const Num a = l.InRegister(call.a.part[0]), b = l.InRegister(call.b.part[0]);
  const Mask zero = l.CompareInt(Order::kEq, b, l.Bits(0, false), true);
  const auto widened = [&](const Num& number) {
    Lane wide;
    if (is_signed || l.avx512()) {
      Widen(l, is_signed ? Inst::kIdVcvtdq2pd : Inst::kIdVcvtudq2pd, number, &wide);
      return wide;
    }
    Widen(l, Inst::kIdVpmovzxdq, number, &wide);
    for (Num& part : wide.part) part = l.Or(part, l.Bits(uint64_t{0x433} << 52, true)) - kUnsignedMagic;
    return wide;
  };
  const Lane dividend = widened(a), divisor = widened(l.Select(zero, l.Bits(1, false), b));
  Lane quotients;
  for (size_t i = 0; i < 2; ++i) quotients.part[i] = l.Round(dividend.part[i] / divisor.part[i], 3) + kMagic;
  const Num quotient = Truncated(l, quotients);
  if (call.op.opcode == hlo::kRemainder) return Wrapped(l, l.SubInt(a, l.MulInt(quotient, b)), call.from);
  return Wrapped(l, l.Select(zero, l.Bits(~uint32_t{0}, false), quotient), call.from);
}

bool Elementwise(Lanes& l, const Call& call, Lane* out) {
  const Opcode opcode = call.op.opcode;
  if (IsComplexCarrier(call.op.from) || IsComplexCarrier(call.result)) return false;
  if ((opcode == hlo::kDivide || opcode == hlo::kRemainder) && IsIntegerCarrier(call.from)) {
    if (IsWide(call.from)) return false;
    out->part[0] = Divided(l, call);
    return true;
  }
  if (opcode == hlo::kCompare) return Compares(l, call, out);
  if (opcode == hlo::kSelect) return Selects(l, call, out);
  if (opcode == hlo::kIsFinite) return IsFinite(l, call, out);
  if (call.from == Carrier::kPred) {
    if (opcode != hlo::kClamp) return OnPreds(l, call, out);
    out->mask = l.And(l.Or(call.a.mask, call.b.mask), call.c.mask);
    return true;
  }
  const Arithmetic arithmetic(l, call);
  const bool wide = IsWide(call.from);
  for (size_t i = 0; i < (wide && !l.narrow() ? 2 : 1); ++i) {
    const Num &a = call.a.part[i], &b = call.b.part[i], &c = call.c.part[i];
    if (opcode == hlo::kClamp) {
      out->part[i] = arithmetic.Clamp(a, b, c);
      continue;
    }
    const bool unary = b.lanes == nullptr;
    if (!(unary ? arithmetic.Unary(a, &out->part[i]) : arithmetic.Binary(a, b, &out->part[i]))) return false;
  }
  if (wide && l.narrow()) out->part[1] = out->part[0];
  return true;
}

// Converts a pred to a number: one or zero.
bool ConvertPred(Lanes& l, const Call& call, Lane* out) {
  const bool wide = IsWide(call.result);
  const Num one = IsFloatCarrier(call.result) ? l.Float(1.0, wide) : l.Bits(1, wide);
  out->part[0] = l.SelectOrZero(wide ? l.HalfOf(call.a.mask, false) : call.a.mask, one);
  if (wide) out->part[1] = l.SelectOrZero(l.HalfOf(call.a.mask, true), one);
  return true;
}

bool ConvertIntegers(Lanes& l, const Call& call, Lane* out) {
  if (IsWide(call.from)) {
    if (IsWide(call.result)) out->part = call.a.part;
    else out->part[0] = Wrapped(l, Truncated(l, call.a), call.result);
    return true;
  }
  if (IsWide(call.result)) {
    Widen(l, IsSignedCarrier(call.from) ? Inst::kIdVpmovsxdq : Inst::kIdVpmovzxdq, call.a.part[0], out);
    return true;
  }
  out->part[0] = Wrapped(l, call.a.part[0], call.result);
  return true;
}

// Converts floats to integers of 8 to 32 bits, saturating.
bool IntegersOfFloats(Lanes& l, const Call& call, Lane* out) {
  if (call.from != Carrier::kF32 || IsWide(call.result)) return false;
  const int bits = CarrierBytes(call.result) * 8;
  const bool is_signed = IsSignedCarrier(call.result);
  const Num converted = IntegerOfFloat(call.a.part[0], bits < 32 || is_signed);
  if (bits == 32) {
    out->part[0] = converted;
    return true;
  }
  const int64_t most = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
  const Num high = l.Bits(static_cast<uint64_t>(most), false),
            low = l.Bits(static_cast<uint64_t>(least), false);
  const Num above = l.Select(l.CompareInt(Order::kGt, converted, high, true), high, converted);
  out->part[0] = l.Select(l.CompareInt(Order::kLt, above, low, true), low, above);
  return true;
}

bool FloatsOfIntegers(Lanes& l, const Call& call, Lane* out) {
  if (IsWide(call.from)) return false;
  const bool is_signed = IsSignedCarrier(call.from) || CarrierBytes(call.from) < 4;
  if (call.result == Carrier::kF32) {
    out->part[0] = FloatOfInteger(call.a.part[0], is_signed);
    return true;
  }
  if (!is_signed && !l.avx512()) return false;
  Widen(l, is_signed ? Inst::kIdVcvtdq2pd : Inst::kIdVcvtudq2pd, call.a.part[0], out);
  return true;
}

bool Converts(Lanes& l, const Call& call, Lane* out) {
  const Carrier from = call.op.from, to = call.op.to;
  if (IsComplexCarrier(from) || IsComplexCarrier(to)) return false;
  if (to == Carrier::kPred) {
    out->mask = ByPart(l, from, [&](size_t i) {
      const Num& a = call.a.part[i];
      const Num zero = l.Bits(0, a.wide);
      return IsFloatCarrier(from) ? l.Compare(Order::kNe, a, zero) : l.CompareInt(Order::kNe, a, zero, true);
    });
    return true;
  }
  if (from == Carrier::kPred) return ConvertPred(l, call, out);
  if (IsIntegerCarrier(from) && IsIntegerCarrier(to)) return ConvertIntegers(l, call, out);
  if (IsFloatCarrier(from) && IsIntegerCarrier(to)) return IntegersOfFloats(l, call, out);
  if (IsIntegerCarrier(from)) return FloatsOfIntegers(l, call, out);
  if (to == Carrier::kF64) Widen(l, Inst::kIdVcvtps2pd, call.a.part[0], out);
  else out->part[0] = Narrowed(l, Inst::kIdVcvtpd2ps, call.a);
  return true;
}

// Returns f32 numbers rounded to values of f16.
Num RoundToHalves(Lanes& l, const Num& value) {
  const x86::Vec half = l.NewHalf();
  l.cc().emit(Inst::kIdVcvtps2ph, half, l.InRegister(value).operand, asmjit::Imm(kToNearestEven));
  const Num out = l.NewNum(false);
  l.cc().emit(Inst::kIdVcvtph2ps, out.operand, half);
  return out;
}

bool HasHalves() { return UsesCpuExtension(CpuExtension::kF16c); }

bool Loads(Lanes& l, const Call& call, Lane* out) {
  if (call.op.type == hlo::kBF16) out->part[0] = l.ShiftLeft(call.a.part[0], 16);
  else if (call.op.type == hlo::kF16 && HasHalves()) out->part[0] = WidenHalves(l, call.a.part[0]);
  else return false;
  return true;
}

bool Narrows(Lanes& l, const Call& call, Lane* out) {
  if (call.op.type == hlo::kBF16) out->part[0] = RoundToBf16(call.a.part[0]);
  else if (call.op.type == hlo::kF16 && HasHalves()) out->part[0] = RoundToHalves(l, call.a.part[0]);
  else return false;
  return true;
}

// bf16 and f16 as stored: a sign above 15 bits, of which the largest values are infinity and NaN.
bool OnBits(Lanes& l, const Call& call, Lane* out) {
  if (call.op.type != hlo::kBF16 && call.op.type != hlo::kF16) return false;
  const Num& a = call.a.part[0];
  const auto constant = [&](uint64_t bits) { return l.Bits(bits, false); };
  const uint64_t infinity = call.op.type == hlo::kBF16 ? 0x7f80 : 0x7c00;
  switch (call.op.opcode) {
    case hlo::kAbs: out->part[0] = l.And(a, constant(0x7fff)); return true;
    case hlo::kNegate: out->part[0] = l.Xor(a, constant(0x8000)); return true;
    case hlo::kIsFinite:
      out->mask = l.CompareInt(Order::kLt, l.And(a, constant(0x7fff)), constant(infinity), true);
      return true;
    case hlo::kConvert:
      if (call.op.to_type != hlo::kPred) return false;
      out->mask = l.CompareInt(Order::kNe, l.And(a, constant(0x7fff)), constant(0), true);
      return true;
    case hlo::kSelect: return Selects(l, call, out);
    default: return false;
  }
}

}  // namespace

bool IsFloatCarrier(Carrier carrier) { return carrier == Carrier::kF32 || carrier == Carrier::kF64; }
bool IsSignedCarrier(Carrier carrier) {
  return carrier == Carrier::kI8 || carrier == Carrier::kI16 || carrier == Carrier::kI32 ||
         carrier == Carrier::kI64;
}
bool IsWide(Carrier carrier) { return CarrierBytes(carrier) == 8 && !IsComplexCarrier(carrier); }

Num WidenHalves(Lanes& l, const Num& bits) {
  x86::Compiler& cc = l.cc();
  const Num out = l.NewNum(false);
  const Num from = l.InRegister(bits);
  if (!l.avx512()) {
    cc.emit(Inst::kIdVcvtph2ps, out.operand, PackAvx2(l, from, 2));
    return out;
  }
  const x86::Vec words = l.NewHalf();
  cc.emit(Inst::kIdVpmovdw, words, from.operand);
  cc.emit(Inst::kIdVcvtph2ps, out.operand, words);
  return out;
}

// Transcribes SineOrCosine of tile/math.h.
void TranslateSine(Lanes& l, const Call& call, Lane* out) {
  constexpr double kMagic = 6755399441055744.0;
  const uint64_t quarter = call.op.opcode == hlo::kCosine ? 1 : 0;
  Lane wide;
  Widen(l, Inst::kIdVcvtps2pd, call.a.part[0], &wide);
  for (Num& x : wide.part) {
    const Num shifted = x * 0.63661977236758134308 + kMagic;
    const Num n = shifted - kMagic;
    const Num quarters = quarter == 0 ? shifted : l.AddInt(shifted, l.Bits(quarter, true));
    const Num r = MulAdd(n, -1.58932547735281966916e-8, MulAdd(n, -1.57079631090164184570, x));
    const Num z = r * r;
    const Num sine = r * SineFactor(z);
    const Num cosine = CosineSeries(z);
    const Mask odd = l.CompareInt(Order::kNe, l.And(quarters, l.Bits(1, true)), l.Bits(0, true), true);
    x = l.Xor(l.Select(odd, cosine, sine), l.ShiftLeft(l.And(quarters, l.Bits(2, true)), 62));
    if (l.narrow()) break;  // The other part is not used.
  }
  out->part[0] = Narrowed(l, Inst::kIdVcvtpd2ps, wide);
}

Mask SinesAreRight(Lanes& l, const Num& angles) {
  constexpr double kSineReducible = 8388608.0;
  return l.Compare(Order::kLt, Abs(angles), l.Float(kSineReducible, false));
}

bool Translate(Lanes& lanes, const Call& call, Lane* out) {
  switch (call.op.kind) {
    case TileOp::Kind::kElementwise: return Elementwise(lanes, call, out);
    case TileOp::Kind::kConvert: return Converts(lanes, call, out);
    case TileOp::Kind::kLoad: return Loads(lanes, call, out);
    case TileOp::Kind::kNarrow: return Narrows(lanes, call, out);
    case TileOp::Kind::kOnBits: return OnBits(lanes, call, out);
    default: return false;
  }
}

}  // namespace hlod::engine::assemble
