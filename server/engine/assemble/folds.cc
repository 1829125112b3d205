// Sums and products of floats are combined in double, in sixteen lanes per tile that are joined in pairs, as
// by tile/ops/ops_fold.h; sums of f32 in f32 first, block by block. The other folds do not depend on the
// order: one vector of accumulators for the whole row.
#include "server/engine/assemble/folds.h"

#include <array>
#include <vector>

#include "server/engine/assemble/operations.h"

namespace hlod::engine::assemble {
namespace {


// Sums and products in double.
class DoubleFolding final : public Folding {
 public:
  DoubleFolding(Lanes& lanes, FoldOp op, Carrier carrier)
      : l_(lanes),
        sums_(op == FoldOp::kAdd),
        wide_(carrier == Carrier::kF64),
        in_blocks_(sums_ && carrier == Carrier::kF32) {}

  bool in_order() const override { return true; }

  void Begin(const x86::Gp& accumulator) override {
    accumulator_ = accumulator;
    total_ = l_.NewXmm();
    l_.cc().vmovsd(total_, x86::ptr(accumulator_));
    const auto count = static_cast<size_t>(2 * kUnit / l_.count());
    for (size_t i = 0; i < count; ++i) lanes_.push_back(l_.NewNum(true));
    for (size_t i = 0; in_blocks_ && i < count / 2; ++i) parts_.push_back(l_.NewNum(false));
    stack_ = l_.cc().newStack(128, 16);
  }

  // Sets the lanes to the neutral number: -0 for sums, so that a sum of -0s stays -0.
  void BeginTile() override {
    const Num neutral = l_.InRegister(l_.Float(sums_ ? -0.0 : 1.0, true));
    for (const Num& lane : lanes_) l_.cc().emit(Inst::kIdVmovapd, lane.operand, neutral.operand);
  }

  void BeginBlock() override {
    if (!in_blocks_) return;
    const Num neutral = l_.InRegister(l_.Float(-0.0, false));
    for (const Num& part : parts_) l_.cc().emit(Inst::kIdVmovaps, part.operand, neutral.operand);
  }
  void EndBlock() override {
    for (size_t vector = 0; vector < parts_.size(); ++vector) Add(Lane{.part = {parts_[vector]}}, vector);
  }

  void Whole(const Lane& lane, size_t vector) override {
    if (!in_blocks_) return Add(lane, vector);
    const Num& to = parts_[vector];
    l_.cc().emit(Inst::kIdVaddps, to.operand, to.operand, l_.InRegister(lane.part[0]).operand);
  }

  void EndTile() override {
    x86::Compiler& cc = l_.cc();
    std::vector<x86::Vec> joined;
    for (size_t i = 0; i < lanes_.size() / 2; ++i) {
      joined.push_back(l_.NewVec());
      cc.emit(Vector(), joined[i], lanes_[i].operand, lanes_[i + lanes_.size() / 2].operand);
    }
    const x86::Ymm four = cc.newYmm();
    if (l_.avx512()) {
      const x86::Ymm high = cc.newYmm();
      cc.vextractf64x4(high, joined[0], 1);
      cc.emit(Vector(), four, joined[0].ymm(), high);
    } else {
      cc.emit(Vector(), four, joined[0], joined[1]);
    }
    const x86::Xmm high = cc.newXmm(), two = cc.newXmm(), last = cc.newXmm();
    cc.vextractf128(high, four, 1);
    cc.emit(Vector(), two, four.xmm(), high);
    cc.vunpckhpd(last, two, two);
    cc.emit(Scalar(), two, two, last);
    cc.emit(Scalar(), total_, total_, two);
  }

  void Part(const Lane& lane, const Extent& extent) override {
    x86::Compiler& cc = l_.cc();
    x86::Mem first = stack_;
    for (size_t i = 0; i < (wide_ ? 2 : 1); ++i) {
      cc.emit(Inst::kIdVmovups, first, l_.InRegister(lane.part[i]).operand);
      first.addOffset(l_.bytes());
    }
    const asmjit::Label next = cc.newLabel();
    const x86::Gp at = cc.newUIntPtr(), i = cc.newUIntPtr();
    const x86::Xmm element = cc.newXmm();
    cc.lea(at, stack_);
    cc.xor_(i, i);
    cc.bind(next);
    if (wide_) {
      cc.vmovsd(element, x86::ptr(at, i, 3));
    } else {
      cc.vmovss(element, x86::ptr(at, i, 2));
      cc.vcvtss2sd(element, element, element);
    }
    cc.emit(Scalar(), total_, total_, element);
    cc.inc(i);
    cc.cmp(i, extent.count);
    cc.jb(next);
  }

  void End() override { l_.cc().vmovsd(x86::ptr(accumulator_), total_); }

 private:
  uint32_t Vector() const { return sums_ ? Inst::kIdVaddpd : Inst::kIdVmulpd; }
  uint32_t Scalar() const { return sums_ ? Inst::kIdVaddsd : Inst::kIdVmulsd; }

  // Combines a vector of a unit with the lanes.
  void Add(const Lane& lane, size_t vector) {
    const std::array<Num, 2> parts = Doubles(lane);
    for (size_t i = 0; i < 2; ++i) {
      const Num& to = lanes_[2 * vector + i];
      l_.cc().emit(Vector(), to.operand, to.operand, parts[i].operand);
    }
  }

  std::array<Num, 2> Doubles(const Lane& lane) {
    if (wide_) return {l_.InRegister(lane.part[0]), l_.InRegister(lane.part[1])};
    x86::Compiler& cc = l_.cc();
    const x86::Vec from = Lanes::Reg(l_.InRegister(lane.part[0])), high = l_.NewHalf();
    std::array<Num, 2> parts = {l_.NewNum(true), l_.NewNum(true)};
    if (l_.avx512()) {
      cc.vextractf32x8(high, from, 1);
      cc.emit(Inst::kIdVcvtps2pd, parts[0].operand, from.ymm());
    } else {
      cc.vextractf128(high, from, 1);
      cc.emit(Inst::kIdVcvtps2pd, parts[0].operand, from.xmm());
    }
    cc.emit(Inst::kIdVcvtps2pd, parts[1].operand, high);
    return parts;
  }

  Lanes& l_;
  const bool sums_, wide_, in_blocks_;
  x86::Gp accumulator_;
  x86::Xmm total_;
  std::vector<Num> lanes_;
  std::vector<Num> parts_;  // With in_blocks_, the sums in f32 of a block.
  x86::Mem stack_;
};

// Integers, and minima and maxima of floats as integers in the same order.
class VectorFolding final : public Folding {
 public:
  VectorFolding(Lanes& lanes, const KernelFold& fold)
      : l_(lanes),
        op_(fold.op),
        carrier_(fold.carrier),
        wide_(CarrierBytes(fold.carrier) == 8),
        keys_(IsFloatCarrier(fold.carrier)) {}

  bool in_order() const override { return false; }

  void Begin(const x86::Gp& accumulator) override {
    accumulator_ = accumulator;
    const Num before = LoadAccumulator();
    // Idempotent operations may combine the accumulator with every element; the others begin with the neutral
    // number.
    const bool repeats = op_ != FoldOp::kAdd && op_ != FoldOp::kMultiply && op_ != FoldOp::kXor;
    Num first = keys_ ? Key(before) : before;
    if (!repeats) first = l_.InRegister(l_.Bits(op_ == FoldOp::kMultiply ? 1 : 0, wide_));
    lanes_ = l_.NewNum(wide_);
    l_.cc().emit(Move(), lanes_.operand, first.operand);
    before_ = before;
    if (keys_) {
      const Mask nan = l_.Unordered(before);
      nan_ = l_.NewMask();
      if (l_.avx512()) l_.cc().kmovw(nan_.k, nan.k);
      else l_.cc().emit(Move(), nan_.v, nan.v);
    }
  }

  void Whole(const Lane& lane, size_t) override {
    for (size_t i = 0; i < (wide_ ? 2 : 1); ++i) Join(lane.part[i], nullptr);
  }
  void Part(const Lane& lane, const Extent& extent) override {
    if (!wide_) return Join(lane.part[0], &extent.mask);
    for (size_t i = 0; i < 2; ++i) {
      const Mask half = l_.HalfOf(extent.mask, i == 1);
      Join(lane.part[i], &half);
    }
  }

  void End() override {
    x86::Compiler& cc = l_.cc();
    Num all = lanes_;
    for (int bytes = l_.bytes() / 2; bytes >= (wide_ ? 8 : 4); bytes /= 2) all = Combine(all, Upper(all, bytes));
    const bool repeats = op_ != FoldOp::kAdd && op_ != FoldOp::kMultiply && op_ != FoldOp::kXor;
    if (!repeats) all = Combine(all, before_);
    if (keys_) {
      all = Key(all);
      const x86::Gp any = cc.newUInt32();
      if (l_.avx512()) cc.kmovd(any, nan_.k);
      else cc.vmovmskps(any, nan_.v);
      // The mask of 64-bit elements has fewer bits.
      if (l_.avx512() && wide_) cc.and_(any, 0xff);
      else if (l_.avx512()) cc.and_(any, 0xffff);
      const asmjit::Label ordered = cc.newLabel();
      const Num result = l_.NewNum(wide_);
      cc.emit(Move(), result.operand, all.operand);
      cc.test(any, any);
      cc.jz(ordered);
      const Num nan = l_.InRegister(l_.Bits(wide_ ? uint64_t{0x7ff8} << 48 : 0x7fc00000, wide_));
      cc.emit(Move(), result.operand, nan.operand);
      cc.bind(ordered);
      all = result;
    }
    StoreAccumulator(all);
  }

 private:
  uint32_t Move() const { return l_.avx512() ? Inst::kIdVmovdqa32 : Inst::kIdVmovdqa; }

  // bits ^ (bits >> 31 as unsigned >> 1): its own inverse.
  Num Key(const Num& value) {
    const Num sign = l_.ShiftRightSigned(value, wide_ ? 63 : 31);
    return l_.Xor(value, l_.ShiftRight(sign, 1));
  }

  Num Combine(const Num& a, const Num& b) {
    const bool is_signed = keys_ || IsSignedCarrier(carrier_);
    switch (op_) {
      case FoldOp::kAdd: return l_.AddInt(a, b);
      case FoldOp::kMultiply: return l_.MulInt(a, b);
      case FoldOp::kMinimum: return Extreme(a, b, Order::kLt, is_signed);
      case FoldOp::kMaximum: return Extreme(a, b, Order::kGt, is_signed);
      case FoldOp::kAnd: return l_.And(a, b);
      case FoldOp::kOr: return l_.Or(a, b);
      case FoldOp::kXor: return l_.Xor(a, b);
    }
    return a;
  }
  Num Extreme(const Num& a, const Num& b, Order order, bool is_signed) {
    const bool least = order == Order::kLt;
    if (!wide_) {
      const uint32_t id = least ? (is_signed ? Inst::kIdVpminsd : Inst::kIdVpminud)
                                : (is_signed ? Inst::kIdVpmaxsd : Inst::kIdVpmaxud);
      return l_.Apply(id, a, b);
    }
    return l_.Select(l_.CompareInt(order, a, b, is_signed), a, b);
  }

  void Join(const Num& given, const Mask* within) {
    x86::Compiler& cc = l_.cc();
    const Num value = l_.InRegister(given);
    Num next = Combine(lanes_, keys_ ? Key(value) : value);
    if (within != nullptr) next = l_.Select(*within, next, lanes_);
    cc.emit(Move(), lanes_.operand, next.operand);
    if (!keys_) return;
    Mask nan = l_.Unordered(value);
    if (within != nullptr) nan = l_.And(nan, *within);
    if (l_.avx512()) cc.korw(nan_.k, nan_.k, nan.k);
    else cc.vpor(nan_.v, nan_.v, nan.v);
  }

  // Returns the part of a vector that begins at `bytes`, at its beginning.
  Num Upper(const Num& a, int bytes) {
    x86::Compiler& cc = l_.cc();
    const Num out = l_.NewNum(wide_);
    const x86::Vec from = Lanes::Reg(a), to = Lanes::Reg(out);
    constexpr int kUpperHalf = 0x4e, kUpperQuarter = 0xb1;
    if (bytes == 32) cc.vextracti64x4(to.ymm(), from, 1);
    else if (bytes == 16) cc.vextracti128(to.xmm(), from.ymm(), 1);
    else cc.emit(Inst::kIdVpshufd, to.xmm(), from.xmm(), asmjit::Imm(bytes == 8 ? kUpperHalf : kUpperQuarter));
    return out;
  }

  Num LoadAccumulator() {
    x86::Compiler& cc = l_.cc();
    const Num out = l_.NewNum(wide_);
    const int width = CarrierBytes(carrier_);
    const x86::Mem at = x86::ptr(accumulator_, 0, static_cast<uint32_t>(width));
    if (width >= 4) {
      cc.emit(wide_ ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd, out.operand, at);
      return out;
    }
    const x86::Gp word = cc.newUInt32();
    if (IsSignedCarrier(carrier_)) cc.movsx(word, at);
    else cc.movzx(word, at);
    const x86::Xmm low = l_.NewXmm();
    cc.vmovd(low, word);
    cc.emit(Inst::kIdVpbroadcastd, out.operand, low);
    return out;
  }
  void StoreAccumulator(const Num& value) {
    x86::Compiler& cc = l_.cc();
    const int width = CarrierBytes(carrier_);
    const x86::Mem at = x86::ptr(accumulator_, 0, static_cast<uint32_t>(width));
    const x86::Xmm low = Lanes::Reg(value).xmm();
    if (wide_) {
      cc.vmovq(at, low);
    } else if (width == 4) {
      cc.vmovd(at, low);
    } else {
      const x86::Gp word = cc.newUInt32();
      cc.vmovd(word, low);
      if (width == 2) cc.mov(at, word.r16());
      else cc.mov(at, word.r8());
    }
  }

  Lanes& l_;
  const FoldOp op_;
  const Carrier carrier_;
  const bool wide_, keys_;
  x86::Gp accumulator_;
  Num lanes_, before_;
  Mask nan_;
};

// Minima and maxima of floats with AVX2: the instruction's, which leaves NaNs out and keeps the first of
// several zeros, beside a mask of NaNs and the signs of all elements. A greatest number that is zero is -0
// only if all signs are set, a least one if any is.
class ExtremeFolding final : public Folding {
 public:
  ExtremeFolding(Lanes& lanes, const KernelFold& fold)
      : l_(lanes), greatest_(fold.op == FoldOp::kMaximum), wide_(fold.carrier == Carrier::kF64) {}

  bool in_order() const override { return false; }

  void Begin(const x86::Gp& accumulator) override {
    accumulator_ = accumulator;
    best_ = l_.NewNum(wide_);
    signs_ = l_.NewNum(wide_);
    l_.cc().emit(wide_ ? Inst::kIdVbroadcastsd : Inst::kIdVbroadcastss, best_.operand, At());
    Set(signs_, best_);
    nan_ = l_.NewMask();
    Set(Of(nan_), Of(l_.Unordered(best_)));
  }

  void Whole(const Lane& lane, size_t) override {
    for (size_t i = 0; i < (wide_ ? 2 : 1); ++i) {
      const Num value = l_.InRegister(lane.part[i]);
      Set(best_, Better(value, best_));
      Set(signs_, Joined(signs_, value));
      Set(Of(nan_), l_.Or(Of(nan_), Of(l_.Unordered(value))));
    }
  }
  void Part(const Lane& lane, const Extent& extent) override {
    for (size_t i = 0; i < (wide_ ? 2 : 1); ++i) {
      const Num value = l_.InRegister(lane.part[i]);
      const Mask within = wide_ ? l_.HalfOf(extent.mask, i == 1) : extent.mask;
      Set(best_, l_.Select(within, Better(value, best_), best_));
      Set(signs_, l_.Select(within, Joined(signs_, value), signs_));
      Set(Of(nan_), l_.Or(Of(nan_), l_.And(Of(l_.Unordered(value)), Of(within))));
    }
  }

  void End() override {
    x86::Compiler& cc = l_.cc();
    Num best = best_, signs = signs_;
    for (int bytes = l_.bytes() / 2; bytes >= (wide_ ? 8 : 4); bytes /= 2) {
      best = Better(best, UpperAvx2(best, bytes));
      signs = Joined(signs, UpperAvx2(signs, bytes));
    }
    const uint64_t sign = wide_ ? uint64_t{1} << 63 : uint64_t{1} << 31;
    const Num zero = l_.And(signs, l_.Bits(sign, wide_));
    best = l_.Select(l_.Compare(Order::kEq, best, l_.Bits(0, wide_)), zero, best);
    const x86::Gp any = cc.newUInt32();
    cc.vmovmskps(any, nan_.v);
    const asmjit::Label ordered = cc.newLabel();
    const Num result = l_.NewNum(wide_);
    Set(result, best);
    cc.test(any, any);
    cc.jz(ordered);
    Set(result, l_.InRegister(l_.Bits(wide_ ? uint64_t{0x7ff8} << 48 : 0x7fc00000, wide_)));
    cc.bind(ordered);
    cc.emit(wide_ ? Inst::kIdVmovsd : Inst::kIdVmovss, At(), Lanes::Reg(result).xmm());
  }

 private:
  x86::Mem At() const { return x86::ptr(accumulator_, 0, wide_ ? 8 : 4); }
  Num Of(const Mask& mask) { return {&l_, wide_, mask.v}; }
  void Set(const Num& to, const Num& from) { l_.cc().emit(Inst::kIdVmovaps, to.operand, from.operand); }
  // Returns b where a is NaN.
  Num Better(const Num& a, const Num& b) const { return greatest_ ? PlainMax(a, b) : PlainMin(a, b); }
  Num Joined(const Num& a, const Num& b) { return greatest_ ? l_.And(a, b) : l_.Or(a, b); }
  // Returns the part of a vector that begins at `bytes`, at its beginning.
  Num UpperAvx2(const Num& a, int bytes) {
    constexpr int kUpperHalf = 0x4e, kUpperQuarter = 0xb1;
    const Num out = l_.NewNum(wide_);
    const x86::Vec from = Lanes::Reg(a), to = Lanes::Reg(out);
    if (bytes == 16) l_.cc().vextractf128(to.xmm(), from.ymm(), 1);
    else
      l_.cc().emit(Inst::kIdVpshufd, to.xmm(), from.xmm(),
                   asmjit::Imm(bytes == 8 ? kUpperHalf : kUpperQuarter));
    return out;
  }

  Lanes& l_;
  const bool greatest_, wide_;
  x86::Gp accumulator_;
  Num best_, signs_;
  Mask nan_;
};

}  // namespace

std::unique_ptr<Folding> MakeFolding(Lanes& lanes, const KernelFold& fold) {
  if (IsComplexCarrier(fold.carrier) || fold.carrier == Carrier::kPred) return nullptr;
  const bool extreme = fold.op == FoldOp::kMaximum || fold.op == FoldOp::kMinimum;
  if (extreme && IsFloatCarrier(fold.carrier) && !lanes.avx512())
    return std::make_unique<ExtremeFolding>(lanes, fold);
  if (FoldsInDouble(fold.op, fold.carrier)) return std::make_unique<DoubleFolding>(lanes, fold.op, fold.carrier);
  return std::make_unique<VectorFolding>(lanes, fold);
}

}  // namespace hlod::engine::assemble
