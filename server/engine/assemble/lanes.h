// Vectors of numbers in machine code that is being assembled, for AVX2 and AVX-512. A program's operations
// are written once, in terms of Num and Mask; Lanes chooses the instructions.
#pragma once

#include <asmjit/x86.h>

#include <cstdint>

namespace hlod::engine::assemble {

namespace x86 = asmjit::x86;
namespace Inst = x86::Inst;

// The rounding of vcvtps2ph.
inline constexpr int kToNearestEven = 0;

class Lanes;

// One vector of floats or integers: a register, or a constant in memory. Elements have 32 bits, or 64 when
// `wide`. Arithmetic operators are those of floats.
struct Num {
  Lanes* lanes = nullptr;
  bool wide = false;
  asmjit::Operand operand;  // A vector register, or a memory operand of a constant.
  uint64_t bits = 0;        // The bits of a constant.

  bool IsRegister() const { return operand.isReg(); }
};
// One truth per element: a mask register (AVX-512), or a vector of ones and zeros (AVX2) with elements as
// wide as those compared.
struct Mask {
  x86::KReg k;
  x86::Vec v;
};

// The order of hlo::ComparisonDirection.
enum class Order : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };

// Emits the instructions of one instruction set.
class Lanes {
 public:
  Lanes(x86::Compiler& cc, bool avx512) : cc_(cc), avx512_(avx512) {}

  bool avx512() const { return avx512_; }
  // Vectors of 128 bits from now on, of which only the first element counts.
  void SetNarrow() { narrow_ = true; }
  bool narrow() const { return narrow_; }
  x86::Compiler& cc() { return cc_; }
  // The elements of 32 bits in a vector.
  int count() const { return avx512_ ? 16 : 8; }
  int bytes() const { return avx512_ ? 64 : 32; }

  x86::Vec NewVec();
  x86::Vec NewHalf();  // Half as wide.
  x86::Xmm NewXmm() { return cc_.newXmm(); }
  Num NewNum(bool wide) { return {this, wide, NewVec()}; }
  static x86::Vec Reg(const Num& a) { return a.operand.as<x86::Vec>(); }
  // Returns the number in a register.
  Num InRegister(const Num& a);

  Num Bits(uint64_t bits, bool wide);  // A constant.
  Num Float(double value, bool wide);

  // Apply an instruction of one, two or three operands. The last one may be a constant.
  Num Apply(uint32_t id, const Num& a, bool wide);
  Num Apply(uint32_t id, const Num& a, const Num& b);
  Num ApplyImm(uint32_t id, const Num& a, int imm);

  Num And(const Num& a, const Num& b) { return Apply(id(Inst::kIdVpandd, Inst::kIdVpandq, a), a, b); }
  Num Or(const Num& a, const Num& b) { return Apply(id(Inst::kIdVpord, Inst::kIdVporq, a), a, b); }
  Num Xor(const Num& a, const Num& b) { return Apply(id(Inst::kIdVpxord, Inst::kIdVpxorq, a), a, b); }
  Num AddInt(const Num& a, const Num& b) { return Apply(a.wide ? Inst::kIdVpaddq : Inst::kIdVpaddd, a, b); }
  Num SubInt(const Num& a, const Num& b) { return Apply(a.wide ? Inst::kIdVpsubq : Inst::kIdVpsubd, a, b); }
  Num MulInt(const Num& a, const Num& b);
  Num ShiftLeft(const Num& a, int n) { return ApplyImm(a.wide ? Inst::kIdVpsllq : Inst::kIdVpslld, a, n); }
  Num ShiftRight(const Num& a, int n) { return ApplyImm(a.wide ? Inst::kIdVpsrlq : Inst::kIdVpsrld, a, n); }
  Num ShiftRightSigned(const Num& a, int n);
  // Shift each element by an amount of its own; amounts of the width or more shift all bits out.
  Num ShiftLeftBy(const Num& a, const Num& n) {
    return Apply(a.wide ? Inst::kIdVpsllvq : Inst::kIdVpsllvd, a, n);
  }
  Num ShiftRightBy(const Num& a, const Num& n) {
    return Apply(a.wide ? Inst::kIdVpsrlvq : Inst::kIdVpsrlvd, a, n);
  }
  Num ShiftRightSignedBy(const Num& a, const Num& n);

  // Returns a * b + c, rounded once, as the interpreter does it (HLOD_TILE_FUSES).
  Num MulAdd(const Num& a, const Num& b, const Num& c);
  Num Sqrt(const Num& a) { return Apply(a.wide ? Inst::kIdVsqrtpd : Inst::kIdVsqrtps, a, a.wide); }
  // Rounds floats to integers: 0 to nearest even, 1 down, 2 up, 3 toward zero.
  Num Round(const Num& a, int mode);

  Mask Compare(Order order, const Num& a, const Num& b);    // Floats; every order but kNe is false for NaN.
  Mask Unordered(const Num& a) { return Unordered(a, a); }  // NaN.
  Mask Unordered(const Num& a, const Num& b);               // One of both is NaN.
  Mask AboveOrNan(const Num& a, const Num& b);              // !(a <= b).
  Mask CompareInt(Order order, const Num& a, const Num& b, bool is_signed);
  Num Select(const Mask& mask, const Num& yes, const Num& no);
  // Returns a * 2^b where the mask is true, else zero; b is an integer. For AVX-512.
  Num ScaleOrZero(const Mask& mask, const Num& a, const Num& b);
  // Returns `yes` where the mask is true, else zero.
  Num SelectOrZero(const Mask& mask, const Num& yes);
  Mask And(const Mask& a, const Mask& b);
  Mask Or(const Mask& a, const Mask& b);
  Mask Xor(const Mask& a, const Mask& b);
  Mask Not(const Mask& a);
  Mask NewMask();

  // Returns the mask of two vectors of 64-bit elements as that of one of 32-bit elements, and back.
  Mask Join(const Mask& low, const Mask& high);
  Mask HalfOf(const Mask& mask, bool high);

 private:
  uint32_t id(uint32_t narrow, uint32_t wide, const Num& a) const;
  Mask CompareAvx2(Order order, const Num& a, const Num& b, bool is_signed);

  x86::Compiler& cc_;
  const bool avx512_;
  bool narrow_ = false;
};

inline Num operator+(const Num& a, const Num& b) {
  return a.lanes->Apply(a.wide ? Inst::kIdVaddpd : Inst::kIdVaddps, a, b);
}
inline Num operator-(const Num& a, const Num& b) {
  return a.lanes->Apply(a.wide ? Inst::kIdVsubpd : Inst::kIdVsubps, a, b);
}
inline Num operator*(const Num& a, const Num& b) {
  return a.lanes->Apply(a.wide ? Inst::kIdVmulpd : Inst::kIdVmulps, a, b);
}
inline Num operator/(const Num& a, const Num& b) {
  return a.lanes->Apply(a.wide ? Inst::kIdVdivpd : Inst::kIdVdivps, a, b);
}
inline Num operator+(const Num& a, double b) { return a + a.lanes->Float(b, a.wide); }
inline Num operator-(const Num& a, double b) { return a - a.lanes->Float(b, a.wide); }
inline Num operator*(const Num& a, double b) { return a * a.lanes->Float(b, a.wide); }
inline Num operator+(double a, const Num& b) { return b + a; }
inline Num operator*(double a, const Num& b) { return b * a; }
inline Num operator-(double a, const Num& b) { return b.lanes->Float(a, b.wide) - b; }
inline Num operator/(double a, const Num& b) { return b.lanes->Float(a, b.wide) / b; }

inline Num MulAdd(const Num& a, const Num& b, const Num& c) { return a.lanes->MulAdd(a, b, c); }
inline Num MulAdd(const Num& a, double b, const Num& c) { return MulAdd(a, a.lanes->Float(b, a.wide), c); }
inline Num MulAdd(const Num& a, const Num& b, double c) { return MulAdd(a, b, a.lanes->Float(c, a.wide)); }
inline Num MulAdd(const Num& a, double b, double c) { return MulAdd(a, a.lanes->Float(b, a.wide), c); }

// Return the minimum and maximum as the instructions compute them: `b` when one is NaN or both are zeros.
inline Num PlainMin(const Num& a, const Num& b) {
  return a.lanes->Apply(a.wide ? Inst::kIdVminpd : Inst::kIdVminps, a, b);
}
inline Num PlainMax(const Num& a, const Num& b) {
  return a.lanes->Apply(a.wide ? Inst::kIdVmaxpd : Inst::kIdVmaxps, a, b);
}

}  // namespace hlod::engine::assemble
