// Reads of views whose runs are short, in a loop's code: by tables of the places of their elements.
#include "server/engine/assemble/emitter.h"

namespace hlod::engine::assemble {

// Returns true for a read that the tables serve: of elements that are carried as they are stored.
bool Emitter::CanGather(const TileKernel::Operand& operand) const {
  const View& view = program_.views()[static_cast<size_t>(operand.read.view)];
  const Carrier carrier = program_.values()[static_cast<size_t>(operand.read.out)].carrier;
  if (inline_.tables == nullptr || operand.read.function != nullptr || !ViewTables::Fits(view)) return false;
  if (operand.read.kind == Instruction::Kind::kReadIota)
    return carrier == Carrier::kI32 || carrier == Carrier::kU32 || carrier == Carrier::kF32;
  return operand.width == CarrierBytes(carrier) && operand.width >= 4;
}

// Has all views that are not one run read by tables, and the domain as one row. Returns false if some cannot
// be read so.
bool Emitter::FindGathers() {
  gather_of_.assign(operands_.size(), kNoOperand);
  for (size_t i = 0; i < operands_.size(); ++i) {
    TileKernel::Operand& operand = operands_[i];
    if (operand.kind != OperandKind::kRead) continue;
    const bool one_run = program_.views()[static_cast<size_t>(operand.read.view)].dims.size() == 1;
    const bool in_runs = operand.form == ReadForm::kRun || operand.form == ReadForm::kIota;
    if (operand.form != ReadForm::kStaged && (one_run || !in_runs)) continue;
    if (!CanGather(operand)) return false;
    operand.form = ReadForm::kStaged;
    const bool is_iota = operand.read.kind == Instruction::Kind::kReadIota;
    const ViewTable& table = inline_.tables->Of(program_.views()[static_cast<size_t>(operand.read.view)],
                                                !is_iota && operand.width == 4);
    size_t& gather = gather_of_[i];
    for (gather = 0; gather < gathers_.size() && gathers_[gather].table != &table;) ++gather;
    if (gather == gathers_.size()) gathers_.push_back({.table = &table});
  }
  return true;
}

// Sets the addresses of the tables.
void Emitter::BeginGathers() {
  for (Gather& gather : gathers_) {
    gather.places_at = cc_.newUIntPtr();
    cc_.lea(gather.places_at, x86::ptr(gather.table->places_label));
    if (!gather.table->has_windows) continue;
    gather.starts_at = cc_.newUIntPtr();
    cc_.lea(gather.starts_at, x86::ptr(gather.table->starts_label));
  }
}

// Reads the current vector's places from the table, unless they are known.
void Emitter::ReadPlaces(Gather& gather) {
  if (gather.is_known) return;
  gather.is_known = true;
  if (gather.table->has_windows) {
    gather.start = cc_.newInt64();
    cc_.movsxd(gather.start, x86::dword_ptr(gather.starts_at, index_));
    if (gather.table->in_order) return;
  }
  gather.places = l_.NewNum(false);
  cc_.emit(l_.avx512() ? Inst::kIdVmovdqu32 : Inst::kIdVmovdqu, gather.places.operand,
           x86::ptr(gather.places_at, index_, 2));
}

// Loads the window of the vector, and puts its elements in their order.
Num Emitter::ReadWindow(const Gather& gather, const x86::Gp& from) {
  const x86::Mem at = x86::ptr(from, gather.start, 2);
  const Num window = l_.NewNum(false), out = l_.NewNum(false);
  if (gather.table->window == l_.count()) {
    cc_.emit(Inst::kIdVmovups, window.operand, at);
  } else if (l_.avx512()) {
    const x86::Gp bits = cc_.newUInt32();
    const x86::KReg mask = cc_.newKw();
    cc_.mov(bits, (1 << gather.table->window) - 1);
    cc_.kmovw(mask, bits);
    cc_.k(mask).z().emit(Inst::kIdVmovups, window.operand, at);
  } else {
    int32_t numbers[8];
    for (int i = 0; i < 8; ++i) numbers[i] = i < gather.table->window ? -1 : 0;
    const Num mask =
        l_.InRegister({&l_, false, cc_.newConst(asmjit::ConstPoolScope::kLocal, numbers, sizeof(numbers))});
    cc_.emit(Inst::kIdVmaskmovps, window.operand, mask.operand, at);
  }
  if (gather.table->in_order) return window;
  cc_.emit(Inst::kIdVpermps, out.operand, gather.places.operand, window.operand);
  return out;
}

// Reads elements from their places; those of 64 bits whose places are in either half of the vector.
Num Emitter::ReadFromPlaces(const Gather& gather, const x86::Gp& from, int width, bool high) {
  const bool wide = width == 8;
  const Num out = l_.NewNum(wide);
  x86::Vec places = Lanes::Reg(gather.places);
  if (wide) {
    const x86::Vec half = l_.NewHalf();
    if (!high)
      cc_.emit(Inst::kIdVmovaps, half,
               l_.avx512() ? places.ymm().as<x86::Vec>() : places.xmm().as<x86::Vec>());
    else if (l_.avx512()) cc_.vextracti32x8(half.as<x86::Ymm>(), places.as<x86::Zmm>(), 1);
    else cc_.vextracti128(half.as<x86::Xmm>(), places.as<x86::Ymm>(), 1);
    places = half;
  }
  const x86::Mem at = x86::ptr(from, places, wide ? 3 : 2, 0);
  // The instruction clears its mask. The result begins as zeros, so that it waits for nothing.
  cc_.emit(l_.avx512() ? Inst::kIdVpxord : Inst::kIdVpxor, out.operand, out.operand, out.operand);
  if (l_.avx512()) {
    const x86::KReg mask = cc_.newKw();
    cc_.kxnorw(mask, mask, mask);
    cc_.k(mask).emit(wide ? Inst::kIdVgatherdpd : Inst::kIdVgatherdps, out.operand, at);
  } else {
    const x86::Vec mask = l_.NewVec();
    cc_.emit(Inst::kIdVpcmpeqd, mask, mask, mask);
    cc_.emit(wide ? Inst::kIdVgatherdpd : Inst::kIdVgatherdps, out.operand, at, mask);
  }
  return out;
}

void Emitter::ReadGathered(const Instruction& read, size_t operand, Lane* out) {
  Gather& gather = gathers_[gather_of_[operand]];
  ReadPlaces(gather);
  if (read.kind == Instruction::Kind::kReadIota) {
    const View& view = program_.views()[static_cast<size_t>(read.view)];
    const Carrier carrier = program_.values()[static_cast<size_t>(read.out)].carrier;
    out->part[0] = l_.AddInt(gather.places, l_.Bits(static_cast<uint32_t>(view.offset), false));
    if (carrier == Carrier::kF32) out->part[0] = l_.Apply(Inst::kIdVcvtdq2ps, out->part[0], false);
  } else if (gather.table->has_windows) {
    out->part[0] = ReadWindow(gather, pointers_[operand]);
  } else {
    out->part[0] = ReadFromPlaces(gather, pointers_[operand], read.width, false);
    if (read.width == 8) out->part[1] = ReadFromPlaces(gather, pointers_[operand], 8, true);
  }
}

}  // namespace hlod::engine::assemble
