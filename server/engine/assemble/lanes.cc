// The instructions of both instruction sets.
#include "server/engine/assemble/lanes.h"

#include <bit>

namespace hlod::engine::assemble {
namespace {

// The conditions of vcmpps, in the order of Order.
constexpr int kFloatConditions[] = {0x00, 0x04, 0x1d, 0x1e, 0x12, 0x11};
// The conditions of vpcmpd.
constexpr int kIntegerConditions[] = {0, 4, 5, 6, 2, 1};
constexpr int kIsUnordered = 0x03;

}  // namespace

x86::Vec Lanes::NewVec() {
  if (narrow_) return cc_.newXmm();
  if (avx512_) return cc_.newZmm();
  return cc_.newYmm();
}

x86::Vec Lanes::NewHalf() {
  if (avx512_ && !narrow_) return cc_.newYmm();
  return cc_.newXmm();
}

Num Lanes::InRegister(const Num& a) {
  if (a.IsRegister()) return a;
  const Num out = NewNum(a.wide);
  x86::Mem from = a.operand.as<x86::Mem>();
  if (avx512_) {
    from.resetBroadcast();
    const uint32_t wide = narrow_ ? Inst::kIdVmovddup : Inst::kIdVbroadcastsd;
    cc_.emit(a.wide ? wide : Inst::kIdVbroadcastss, out.operand, from);
  } else {
    cc_.emit(Inst::kIdVmovups, out.operand, from);
  }
  return out;
}

Num Lanes::Bits(uint64_t bits, bool wide) {
  x86::Mem constant;
  if (avx512_) {
    constant = wide ? cc_.newUInt64Const(asmjit::ConstPoolScope::kLocal, bits)
                    : cc_.newUInt32Const(asmjit::ConstPoolScope::kLocal, static_cast<uint32_t>(bits));
    if (narrow_) constant.setBroadcast(wide ? x86::Mem::Broadcast::k1To2 : x86::Mem::Broadcast::k1To4);
    else constant.setBroadcast(wide ? x86::Mem::Broadcast::k1To8 : x86::Mem::Broadcast::k1To16);
  } else {
    uint64_t vector[4];
    const uint64_t both = wide ? bits : (bits & 0xffffffffu) | bits << 32;
    for (uint64_t& word : vector) word = both;
    constant = cc_.newConst(asmjit::ConstPoolScope::kLocal, vector, narrow_ ? 16 : sizeof(vector));
  }
  return {this, wide, constant, bits};
}

Num Lanes::Float(double value, bool wide) {
  return Bits(wide ? std::bit_cast<uint64_t>(value) : std::bit_cast<uint32_t>(static_cast<float>(value)),
              wide);
}

uint32_t Lanes::id(uint32_t narrow, uint32_t wide, const Num& a) const {
  if (avx512_) return a.wide ? wide : narrow;
  switch (narrow) {  // AVX2 has the bitwise instructions without an element width.
    case Inst::kIdVpandd: return Inst::kIdVpand;
    case Inst::kIdVpord: return Inst::kIdVpor;
    default: return Inst::kIdVpxor;
  }
}

Num Lanes::Apply(uint32_t id, const Num& a, bool wide) {
  const Num out = NewNum(wide);
  cc_.emit(id, out.operand, a.operand);
  return out;
}

Num Lanes::Apply(uint32_t id, const Num& a, const Num& b) {
  const Num first = InRegister(a);
  const Num out = NewNum(a.wide);
  cc_.emit(id, out.operand, first.operand, b.operand);
  return out;
}

Num Lanes::ApplyImm(uint32_t id, const Num& a, int imm) {
  const Num from = InRegister(a);
  const Num out = NewNum(a.wide);
  cc_.emit(id, out.operand, from.operand, asmjit::Imm(imm));
  return out;
}

Num Lanes::MulAdd(const Num& a, const Num& b, const Num& c) {
  // The first operand is overwritten: a constant that is loaded for this, else a copy.
  const bool b_fixed = !b.IsRegister(), c_fixed = !c.IsRegister();
  const Num to = b_fixed && c_fixed ? InRegister(b) : NewNum(a.wide);
  if (b_fixed && c_fixed) {
    cc_.emit(a.wide ? Inst::kIdVfmadd213pd : Inst::kIdVfmadd213ps, to.operand, InRegister(a).operand,
             c.operand);
  } else if (b_fixed) {
    cc_.emit(Inst::kIdVmovaps, to.operand, c.operand);
    cc_.emit(a.wide ? Inst::kIdVfmadd231pd : Inst::kIdVfmadd231ps, to.operand, InRegister(a).operand,
             b.operand);
  } else {
    cc_.emit(Inst::kIdVmovaps, to.operand, InRegister(a).operand);
    cc_.emit(a.wide ? Inst::kIdVfmadd213pd : Inst::kIdVfmadd213ps, to.operand, b.operand, c.operand);
  }
  return to;
}

Num Lanes::MulInt(const Num& a, const Num& b) {
  if (!a.wide) return Apply(Inst::kIdVpmulld, a, b);
  if (avx512_) return Apply(Inst::kIdVpmullq, a, b);
  // Sums three products of halves; that of the high ones is shifted out.
  const Num x = InRegister(a), y = InRegister(b);
  const Num cross =
      AddInt(Apply(Inst::kIdVpmuludq, ShiftRight(x, 32), y), Apply(Inst::kIdVpmuludq, ShiftRight(y, 32), x));
  return AddInt(Apply(Inst::kIdVpmuludq, x, y), ShiftLeft(cross, 32));
}

Num Lanes::ShiftRightSigned(const Num& a, int n) {
  if (!a.wide) return ApplyImm(Inst::kIdVpsrad, a, n);
  if (avx512_) return ApplyImm(Inst::kIdVpsraq, a, n);
  // Flipping the sign bit makes the logical shift exact but for a constant.
  const Num sign = Bits(uint64_t{1} << 63, true);
  return SubInt(ShiftRight(Xor(a, sign), n), Bits((uint64_t{1} << 63) >> n, true));
}

Num Lanes::ShiftRightSignedBy(const Num& a, const Num& n) {
  if (!a.wide) return Apply(Inst::kIdVpsravd, a, n);
  if (avx512_) return Apply(Inst::kIdVpsravq, a, n);
  const Num sign = Bits(uint64_t{1} << 63, true);
  return SubInt(ShiftRightBy(Xor(a, sign), n), ShiftRightBy(sign, n));
}

Num Lanes::Round(const Num& a, int mode) {
  constexpr int kNoException = 8;
  const uint32_t id = avx512_ ? (a.wide ? Inst::kIdVrndscalepd : Inst::kIdVrndscaleps)
                              : (a.wide ? Inst::kIdVroundpd : Inst::kIdVroundps);
  return ApplyImm(id, a, mode | kNoException);
}

Mask Lanes::NewMask() {
  Mask mask;
  if (avx512_) mask.k = cc_.newKq();
  else mask.v = NewVec();
  return mask;
}

Mask Lanes::Compare(Order order, const Num& a, const Num& b) {
  const Mask out = NewMask();
  const Num first = InRegister(a);
  const uint32_t id = a.wide ? Inst::kIdVcmppd : Inst::kIdVcmpps;
  const asmjit::Imm condition(kFloatConditions[static_cast<int>(order)]);
  if (avx512_) cc_.emit(id, out.k, first.operand, b.operand, condition);
  else cc_.emit(id, out.v, first.operand, b.operand, condition);
  return out;
}

Mask Lanes::Unordered(const Num& a, const Num& b) {
  const Mask out = NewMask();
  const Num x = InRegister(a);
  const uint32_t id = a.wide ? Inst::kIdVcmppd : Inst::kIdVcmpps;
  if (avx512_) cc_.emit(id, out.k, x.operand, b.operand, asmjit::Imm(kIsUnordered));
  else cc_.emit(id, out.v, x.operand, b.operand, asmjit::Imm(kIsUnordered));
  return out;
}

Mask Lanes::AboveOrNan(const Num& a, const Num& b) {
  constexpr int kNotLessOrEqual = 0x16;
  const Mask out = NewMask();
  const Num x = InRegister(a);
  const uint32_t id = a.wide ? Inst::kIdVcmppd : Inst::kIdVcmpps;
  if (avx512_) cc_.emit(id, out.k, x.operand, b.operand, asmjit::Imm(kNotLessOrEqual));
  else cc_.emit(id, out.v, x.operand, b.operand, asmjit::Imm(kNotLessOrEqual));
  return out;
}

Num Lanes::ScaleOrZero(const Mask& mask, const Num& a, const Num& b) {
  const Num out = NewNum(a.wide);
  cc_.k(mask.k).z().emit(a.wide ? Inst::kIdVscalefpd : Inst::kIdVscalefps, out.operand, a.operand, b.operand);
  return out;
}

Mask Lanes::CompareInt(Order order, const Num& a, const Num& b, bool is_signed) {
  if (!avx512_) return CompareAvx2(order, a, b, is_signed);
  const Mask out = NewMask();
  const uint32_t id = a.wide ? (is_signed ? Inst::kIdVpcmpq : Inst::kIdVpcmpuq)
                             : (is_signed ? Inst::kIdVpcmpd : Inst::kIdVpcmpud);
  cc_.emit(id, out.k, InRegister(a).operand, b.operand,
           asmjit::Imm(kIntegerConditions[static_cast<int>(order)]));
  return out;
}

// AVX2 has only == and the signed >.
Mask Lanes::CompareAvx2(Order order, const Num& a, const Num& b, bool is_signed) {
  Num x = InRegister(a), y = InRegister(b);
  Mask out = NewMask();
  if (order == Order::kEq || order == Order::kNe) {
    cc_.emit(a.wide ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd, out.v, x.operand, y.operand);
    return order == Order::kEq ? out : Not(out);
  }
  if (!is_signed) {
    const Num sign = Bits(a.wide ? uint64_t{1} << 63 : uint64_t{1} << 31, a.wide);
    x = Xor(x, sign);
    y = Xor(y, sign);
  }
  const bool swapped = order == Order::kLt || order == Order::kGe;
  cc_.emit(a.wide ? Inst::kIdVpcmpgtq : Inst::kIdVpcmpgtd, out.v, (swapped ? y : x).operand,
           (swapped ? x : y).operand);
  return order == Order::kLt || order == Order::kGt ? out : Not(out);
}

Num Lanes::Select(const Mask& mask, const Num& yes, const Num& no) {
  const Num out = NewNum(yes.wide);
  const Num other = InRegister(no);
  if (avx512_) {
    cc_.k(mask.k).emit(yes.wide ? Inst::kIdVblendmpd : Inst::kIdVblendmps, out.operand, other.operand,
                       yes.operand);
  } else {
    cc_.emit(yes.wide ? Inst::kIdVblendvpd : Inst::kIdVblendvps, out.operand, other.operand, yes.operand,
             mask.v);
  }
  return out;
}

Num Lanes::SelectOrZero(const Mask& mask, const Num& yes) {
  if (!avx512_) return And({this, yes.wide, mask.v}, yes);
  const Num out = NewNum(yes.wide);
  const Num from = InRegister(yes);
  cc_.k(mask.k).z().emit(yes.wide ? Inst::kIdVmovdqa64 : Inst::kIdVmovdqa32, out.operand, from.operand);
  return out;
}

Mask Lanes::And(const Mask& a, const Mask& b) {
  const Mask out = NewMask();
  if (avx512_) cc_.kandw(out.k, a.k, b.k);
  else cc_.vpand(out.v, a.v, b.v);
  return out;
}
Mask Lanes::Or(const Mask& a, const Mask& b) {
  const Mask out = NewMask();
  if (avx512_) cc_.korw(out.k, a.k, b.k);
  else cc_.vpor(out.v, a.v, b.v);
  return out;
}
Mask Lanes::Xor(const Mask& a, const Mask& b) {
  const Mask out = NewMask();
  if (avx512_) cc_.kxorw(out.k, a.k, b.k);
  else cc_.vpxor(out.v, a.v, b.v);
  return out;
}
Mask Lanes::Not(const Mask& a) {
  const Mask out = NewMask();
  if (avx512_) cc_.knotw(out.k, a.k);
  else cc_.emit(Inst::kIdVpxor, out.v, a.v, Bits(~uint64_t{0}, true).operand);
  return out;
}

Mask Lanes::Join(const Mask& low, const Mask& high) {
  const Mask out = NewMask();
  if (avx512_) {
    cc_.kunpckbw(out.k, high.k, low.k);
    return out;
  }
  // Takes the even 32 bits of each, and puts them in order.
  const x86::Vec mixed = NewVec();
  constexpr int kEven = 0x88, kInOrder = 0xd8;
  cc_.vshufps(mixed, low.v, high.v, kEven);
  if (narrow_) return {.k = {}, .v = mixed};
  cc_.vpermpd(out.v, mixed, kInOrder);
  return out;
}

Mask Lanes::HalfOf(const Mask& mask, bool high) {
  if (avx512_) {
    if (!high) return mask;
    const Mask out = NewMask();
    cc_.kshiftrw(out.k, mask.k, 8);
    return out;
  }
  const Mask out = NewMask();
  x86::Vec half = mask.v;
  if (high && !narrow_) {
    half = NewHalf();
    cc_.vextracti128(half, mask.v, 1);
  }
  cc_.vpmovsxdq(out.v, half.xmm());
  return out;
}

}  // namespace hlod::engine::assemble
