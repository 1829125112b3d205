// AVX-512 masks every access; AVX2 masks elements of 32 and 64 bits.
#include "server/engine/assemble/memory.h"

namespace hlod::engine::assemble {
namespace {

// Returns the lower half of a vector.
x86::Vec Halved(const Num& a) {
  const x86::Vec all = Lanes::Reg(a);
  if (a.lanes->avx512() && !a.lanes->narrow()) return all.ymm();
  return all.xmm();
}

int Log2(int width) { return width == 8 ? 3 : width == 4 ? 2 : width == 2 ? 1 : 0; }


}  // namespace

x86::Mem Memory::At(int width, int64_t offset) const {
  if (!index_.isValid()) return x86::ptr(base_, offset_ + static_cast<int32_t>(offset));
  return x86::ptr(base_, index_, static_cast<uint32_t>(Log2(width)), static_cast<int32_t>(offset));
}

x86::Gp Memory::LoadWord(int width, bool is_signed) {
  x86::Compiler& cc = l_.cc();
  const x86::Gp word = cc.newUInt32();
  if (cell_ != nullptr) {
    if (is_signed) cc.movsx(word, cell_->word.r8());
    else cc.movzx(word, cell_->word.r8());
    return word;
  }
  x86::Mem from = At(width);
  from.setSize(static_cast<uint32_t>(width));
  if (is_signed) cc.movsx(word, from);
  else cc.movzx(word, from);
  return word;
}

Num Memory::LoadOne(int width, bool is_signed) {
  x86::Compiler& cc = l_.cc();
  const Num out = l_.NewNum(width == 8);
  const x86::Xmm low = Lanes::Reg(out).xmm();
  if (cell_ != nullptr && width >= 4) cc.vmovaps(low, cell_->vector);
  else if (width == 8) cc.vmovq(low, At(8));
  else if (width == 4) cc.vmovd(low, At(4));
  else cc.vmovd(low, LoadWord(width, is_signed));
  return out;
}

void Memory::StoreWord(const x86::Gp& word, int width) {
  if (cell_ != nullptr) l_.cc().movzx(cell_->word, word.r8());
  else if (width == 2) l_.cc().mov(At(2), word.r16());
  else l_.cc().mov(At(1), word.r8());
}

void Memory::StoreOne(const Num& value, int width) {
  x86::Compiler& cc = l_.cc();
  const x86::Xmm low = Lanes::Reg(l_.InRegister(value)).xmm();
  if (cell_ != nullptr && width >= 4) {
    // The other elements become zeros, so that nothing slow is computed with them.
    constexpr int kFirstOnly = 0x0e;
    if (width == 8) cc.vmovq(cell_->vector, low);
    else cc.vinsertps(cell_->vector, low, low, kFirstOnly);
  } else if (width == 8) {
    cc.vmovq(At(8), low);
  } else if (width == 4) {
    cc.vmovd(At(4), low);
  } else {
    const x86::Gp word = cc.newUInt32();
    cc.vmovd(word, low);
    StoreWord(word, width);
  }
}

void Memory::CopyElements(const x86::Mem& stack, int width, bool in) {
  x86::Compiler& cc = l_.cc();
  const asmjit::Label next = cc.newLabel();
  const x86::Gp i = cc.newUIntPtr(), from = cc.newUIntPtr(), local = cc.newUIntPtr(), word = cc.newUInt32();
  cc.lea(local, stack);
  cc.lea(from, At(width));
  cc.xor_(i, i);
  cc.bind(next);
  x86::Mem source = x86::ptr(in ? from : local, i, static_cast<uint32_t>(Log2(width)), 0,
                             static_cast<uint32_t>(width));
  x86::Mem target = x86::ptr(in ? local : from, i, static_cast<uint32_t>(Log2(width)), 0,
                             static_cast<uint32_t>(width));
  cc.movzx(word, source);
  if (width == 1) cc.mov(target, word.r8());
  else cc.mov(target, word.r16());
  cc.inc(i);
  cc.cmp(i, extent_.count);
  cc.jb(next);
}

// Elements beyond the count are zeros, as a masked load has them: CallFunction computes with them, too.
x86::Mem Memory::CopyIn(int width) {
  x86::Compiler& cc = l_.cc();
  const x86::Mem stack = cc.newStack(16, 16);
  const x86::Xmm zeros = l_.NewXmm();
  cc.vpxor(zeros, zeros, zeros);
  cc.vmovdqa(stack, zeros);
  CopyElements(stack, width, true);
  return stack;
}

void Memory::CopyOut(const x86::Mem& from, int width) { CopyElements(from, width, false); }

Num Memory::Load(int width, bool is_signed) {
  if (extent_.one) return LoadOne(width, is_signed);
  x86::Compiler& cc = l_.cc();
  const Num out = l_.NewNum(false);
  uint32_t id = l_.avx512() ? Inst::kIdVmovdqu32 : Inst::kIdVmovdqu;
  if (width == 2) id = is_signed ? Inst::kIdVpmovsxwd : Inst::kIdVpmovzxwd;
  if (width == 1) id = is_signed ? Inst::kIdVpmovsxbd : Inst::kIdVpmovzxbd;
  if (extent_.whole) {
    cc.emit(id, out.operand, At(width));
  } else if (l_.avx512()) {
    cc.k(extent_.mask.k).z().emit(id, out.operand, At(width));
  } else if (width == 4) {
    cc.emit(Inst::kIdVmaskmovps, out.operand, extent_.mask.v, At(width));
  } else {
    cc.emit(id, out.operand, CopyIn(width));
  }
  return out;
}

std::array<Num, 2> Memory::LoadWide() {
  if (extent_.one) {
    const Num first = LoadOne(8, false);
    return {first, first};
  }
  x86::Compiler& cc = l_.cc();
  std::array<Num, 2> out;
  for (int half = 0; half < 2; ++half) {
    Num& part = out[static_cast<size_t>(half)];
    part = l_.NewNum(true);
    const x86::Mem at = At(8, half * l_.bytes());
    if (extent_.whole) {
      cc.emit(Inst::kIdVmovupd, part.operand, at);
    } else if (l_.avx512()) {
      cc.k(l_.HalfOf(extent_.mask, half == 1).k).z().emit(Inst::kIdVmovupd, part.operand, at);
    } else {
      cc.emit(Inst::kIdVmaskmovpd, part.operand, l_.HalfOf(extent_.mask, half == 1).v, at);
    }
  }
  return out;
}

Mask Memory::LoadPreds() {
  const Mask out = l_.NewMask();
  x86::Compiler& cc = l_.cc();
  if (!l_.avx512()) return l_.CompareInt(Order::kGt, Load(1, false), l_.Bits(0, false), true);
  const x86::Xmm bytes = l_.NewXmm();
  if (extent_.one) cc.vmovd(bytes, LoadWord(1, false));
  else if (extent_.whole) cc.vmovdqu8(bytes, At(1));
  else cc.k(extent_.mask.k).z().vmovdqu8(bytes, At(1));
  cc.vptestmb(out.k, bytes, bytes);
  return out;
}

Num Memory::LoadHalves() {
  x86::Compiler& cc = l_.cc();
  const Num out = l_.NewNum(false);
  if (extent_.one) cc.emit(Inst::kIdVcvtph2ps, out.operand, Halved(LoadOne(2, false)));
  else if (extent_.whole) cc.emit(Inst::kIdVcvtph2ps, out.operand, At(2));
  else if (l_.avx512()) cc.k(extent_.mask.k).z().emit(Inst::kIdVcvtph2ps, out.operand, At(2));
  else cc.emit(Inst::kIdVcvtph2ps, out.operand, CopyIn(2));
  return out;
}

x86::Xmm PackAvx2(Lanes& l, const Num& value, int width) {
  x86::Compiler& cc = l.cc();
  const x86::Vec low = Lanes::Reg(value);
  x86::Xmm high = low.xmm();
  const x86::Xmm words = l.NewXmm();
  if (!l.narrow()) {
    high = l.NewXmm();
    cc.vextracti128(high, low, 1);
  }
  cc.vpackusdw(words, low.xmm(), high);
  if (width == 2) return words;
  const x86::Xmm bytes = l.NewXmm();
  cc.vpackuswb(bytes, words, words);
  return bytes;
}

void Memory::StorePacked(const x86::Xmm& packed, int bytes, int width) {
  x86::Compiler& cc = l_.cc();
  const x86::Mem to = extent_.whole ? At(width) : cc.newStack(16, 16);
  if (bytes == 16) cc.vmovdqu(to, packed);
  else cc.vmovq(to, packed);
  if (!extent_.whole) CopyOut(to, width);
}

void Memory::Store(const Num& given, int width) {
  if (extent_.one) return StoreOne(given, width);
  x86::Compiler& cc = l_.cc();
  const Num value = l_.InRegister(given);
  if (l_.avx512()) {
    const uint32_t id = width == 4   ? Inst::kIdVmovdqu32
                        : width == 2 ? Inst::kIdVpmovdw
                                     : Inst::kIdVpmovdb;
    if (extent_.whole) cc.emit(id, At(width), value.operand);
    else cc.k(extent_.mask.k).emit(id, At(width), value.operand);
    return;
  }
  if (width == 4) {
    if (extent_.whole) cc.emit(Inst::kIdVmovdqu, At(width), value.operand);
    else StoreParts(Lanes::Reg(value), {}, width);
    return;
  }
  const Num low = l_.And(value, l_.Bits(width == 2 ? 0xffff : 0xff, false));
  StorePacked(PackAvx2(l_, low, width), 8 * width, width);
}

// Stores the first extent_.count elements, of two vectors if they are wide: all, or a part for each power of
// two.
void Memory::StoreParts(const x86::Vec& first, const x86::Vec& second, int width) {
  x86::Compiler& cc = l_.cc();
  const bool wide = width == 8;
  const asmjit::Label parts = cc.newLabel(), done = cc.newLabel();
  const x86::Gp at = cc.newUIntPtr();
  const x86::Vec left = l_.NewVec();
  cc.lea(at, At(width));
  cc.vmovaps(left, first);
  cc.cmp(extent_.count, l_.count());
  cc.jb(parts);
  cc.vmovups(x86::ptr(at), first);
  if (wide) cc.vmovups(x86::ptr(at, l_.bytes()), second);
  cc.jmp(done);
  cc.bind(parts);
  for (int count = l_.count() / 2; count > 0; count /= 2) {
    const asmjit::Label next = cc.newLabel();
    const int bytes = count * width;
    cc.test(extent_.count, count);
    cc.jz(next);
    if (bytes == 32) cc.vmovups(x86::ptr(at), left);
    else if (bytes == 16) cc.vmovups(x86::ptr(at), left.xmm());
    else if (bytes == 8) cc.vmovlps(x86::ptr(at), left.xmm());
    else cc.vmovss(x86::ptr(at), left.xmm());
    if (bytes == 32) cc.vmovaps(left, second);
    else if (bytes == 16) cc.vextractf128(left.xmm(), left, 1);
    else if (bytes == 8) cc.vmovhlps(left.xmm(), left.xmm(), left.xmm());
    if (count > 1) cc.add(at, bytes);
    cc.bind(next);
  }
  cc.bind(done);
}

void Memory::StoreWide(const std::array<Num, 2>& value) {
  if (extent_.one) return StoreOne(value[0], 8);
  x86::Compiler& cc = l_.cc();
  if (!extent_.whole && !l_.avx512())
    return StoreParts(Lanes::Reg(l_.InRegister(value[0])), Lanes::Reg(l_.InRegister(value[1])), 8);
  for (int half = 0; half < 2; ++half) {
    const Num part = l_.InRegister(value[static_cast<size_t>(half)]);
    const x86::Mem at = At(8, half * l_.bytes());
    if (extent_.whole) {
      cc.emit(Inst::kIdVmovupd, at, part.operand);
    } else {
      cc.k(l_.HalfOf(extent_.mask, half == 1).k).emit(Inst::kIdVmovupd, at, part.operand);
    }
  }
}

void Memory::StorePreds(const Mask& mask) {
  x86::Compiler& cc = l_.cc();
  if (extent_.one) {
    const x86::Gp word = cc.newUInt32();
    if (l_.avx512()) cc.kmovd(word, mask.k);
    else cc.vmovd(word, mask.v.xmm());
    cc.and_(word, 1);
    return StoreWord(word, 1);
  }
  if (!l_.avx512()) {
    const Num ones = l_.ShiftRight({&l_, false, mask.v}, 31);
    StorePacked(PackAvx2(l_, ones, 1), 8, 1);
    return;
  }
  const x86::Xmm ones = l_.NewXmm(), bytes = l_.NewXmm();
  uint8_t one[16];
  for (uint8_t& byte : one) byte = 1;
  cc.vmovdqu(ones, cc.newConst(asmjit::ConstPoolScope::kLocal, one, sizeof(one)));
  cc.k(mask.k).z().vmovdqu8(bytes, ones);
  if (extent_.whole) cc.vmovdqu8(At(1), bytes);
  else cc.k(extent_.mask.k).vmovdqu8(At(1), bytes);
}

void Memory::StoreHalves(const Num& given) {
  x86::Compiler& cc = l_.cc();
  const Num value = l_.InRegister(given);
  if (extent_.one) {
    const Num half = l_.NewNum(false);
    cc.emit(Inst::kIdVcvtps2ph, Lanes::Reg(half).xmm(), Lanes::Reg(value).xmm(), asmjit::Imm(kToNearestEven));
    StoreOne(half, 2);
  } else if (extent_.whole) {
    cc.emit(Inst::kIdVcvtps2ph, At(2), value.operand, asmjit::Imm(kToNearestEven));
  } else if (l_.avx512()) {
    cc.k(extent_.mask.k).emit(Inst::kIdVcvtps2ph, At(2), value.operand, asmjit::Imm(kToNearestEven));
  } else {
    const x86::Xmm packed = l_.NewXmm();
    cc.emit(Inst::kIdVcvtps2ph, packed, value.operand, asmjit::Imm(kToNearestEven));
    StorePacked(packed, 16, 2);
  }
}

void Memory::StorePast(const Num& value) {
  l_.cc().emit(Inst::kIdVmovntps, At(4), l_.InRegister(value).operand);
}

}  // namespace hlod::engine::assemble
