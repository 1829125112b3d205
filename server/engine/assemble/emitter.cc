// The loop and its memory. Values that the interpreter keeps in tiles are registers here, and each input is
// read once.
#include "server/engine/assemble/emitter.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "common/base/system/cpu.h"

namespace hlod::engine::assemble {
namespace {

// A call per vector costs as much as the interpreter takes for several cheap instructions on the vector's
// elements, unless the function itself takes long.
int CostOfCall(const TileOp& op) {
  if (op.kind != TileOp::Kind::kElementwise) return 8;
  switch (op.opcode) {
    case hlo::kPower:
    case hlo::kDivide:
    case hlo::kRemainder:
    case hlo::kCbrt:
    case hlo::kTan:
    case hlo::kAtan2:
    case hlo::kLog:
    case hlo::kLogPlusOne:
    case hlo::kErf:
    case hlo::kSine:
    case hlo::kCosine: return 3;
    default: return 8;
  }
}

// A call of an interpreter's function on a vector.
struct TileCall {
  TileFunction function;
  std::byte* operands[4];  // The result, then those that it is computed from.
  int64_t count, immediate;
};

// Clears the upper halves of the vector registers before it calls: the C library's functions, which some of
// the interpreter's functions call, are made of instructions that otherwise wait for these halves, and take
// ten times as long.
#if defined(__x86_64__)
__attribute__((target("avx")))
#endif
void RunTileCall(const TileCall* call) {
#if defined(__x86_64__)
  __builtin_ia32_vzeroupper();
#endif
  call->function(call->operands[0], call->operands[1], call->operands[2], call->operands[3],
                 static_cast<int>(call->count), call->immediate);
}

// Stores a number `offset` bytes after `at`.
void PutNumber(x86::Compiler& cc, x86::Mem at, size_t offset, uint64_t value) {
  const x86::Gp number = cc.newUInt64();
  cc.mov(number, value);
  at.addOffset(static_cast<int64_t>(offset));
  cc.mov(at, number);
}

}  // namespace

Lane Emitter::Constant(const Value& value) {
  const std::byte* const bytes = program_.ConstantOf(value);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(CarrierBytes(value.carrier)));
  Lane lane;
  if (value.carrier == Carrier::kPred) {
    const Num all = l_.Bits(bits != 0 ? ~uint64_t{0} : 0, false);
    lane.mask = l_.CompareInt(Order::kNe, all, l_.Bits(0, false), true);
    return lane;
  }
  if (value.carrier == Carrier::kI8) bits = static_cast<uint64_t>(int64_t{static_cast<int8_t>(bits)});
  if (value.carrier == Carrier::kI16) bits = static_cast<uint64_t>(int64_t{static_cast<int16_t>(bits)});
  const bool wide = IsWide(value.carrier);
  lane.part[0] = l_.Bits(bits, wide);
  if (wide) lane.part[1] = lane.part[0];
  return lane;
}

void Emitter::Copy(const Num& from, const Num& to) {
  cc_.emit(l_.avx512() ? Inst::kIdVmovdqa32 : Inst::kIdVmovdqa, to.operand, from.operand);
}

Lane Emitter::LoadCarrier(Memory memory, Carrier carrier) {
  Lane lane;
  if (carrier == Carrier::kPred) lane.mask = memory.LoadPreds();
  else if (IsWide(carrier)) lane.part = memory.LoadWide();
  else lane.part[0] = memory.Load(CarrierBytes(carrier), IsSignedCarrier(carrier));
  return lane;
}

bool Emitter::Read(const Instruction& read, size_t operand, const Extent& extent, Lane* out) {
  const Carrier carrier = program_.values()[static_cast<size_t>(read.out)].carrier;
  if (by_elements_ && read.kind == Instruction::Kind::kReadIota) return ReadNumber(read, operand, out);
  if (operands_[operand].form == ReadForm::kIota) {
    for (const Counter& counter : counters_) {
      if (counter.operand != operand) continue;
      if (carrier != Carrier::kF32) out->part[0] = counter.numbers;
      else out->part[0] = l_.Apply(Inst::kIdVcvtdq2ps, counter.numbers, false);
    }
    return true;
  }
  if (!by_elements_ && !gather_of_.empty() && gather_of_[operand] != kNoOperand) {
    ReadGathered(read, operand, out);
    return true;
  }
  Memory memory = At(operand, extent);
  if (read.function == nullptr || (operands_[operand].form == ReadForm::kStaged && !by_elements_)) {
    *out = LoadCarrier(memory, carrier);
    return true;
  }
  if (read.op.type == hlo::kF16 && UsesCpuExtension(CpuExtension::kF16c)) {
    out->part[0] = memory.LoadHalves();
    return true;
  }
  if (read.op.type != hlo::kBF16) return false;
  Lane stored;
  stored.part[0] = memory.Load(2, false);
  return Translate(l_, {.op = read.op, .a = stored, .from = Carrier::kU16, .result = carrier}, out);
}

const Lane& Emitter::ValueOf(int id, const Extent& extent) {
  const auto v = static_cast<size_t>(id);
  if (known_[v]) return lanes_[v];
  const Value& value = program_.values()[v];
  known_[v] = true;
  if (value.place == Place::kConstant) lanes_[v] = Constant(value);
  if (value.place == Place::kInput) lanes_[v] = LoadCarrier(At(operand_of_value_[v], extent), value.carrier);
  return lanes_[v];
}

void Emitter::StoreCarrier(Memory memory, Carrier carrier, const Lane& lane, bool whole) {
  if (carrier == Carrier::kPred) memory.StorePreds(lane.mask);
  else if (IsWide(carrier)) memory.StoreWide(lane.part);
  else if (CarrierBytes(carrier) == 4 && past_caches_ && whole) memory.StorePast(lane.part[0]);
  else memory.Store(lane.part[0], CarrierBytes(carrier));
}

bool Emitter::StoreAs(Memory memory, hlo::PrimitiveType type, const Lane& lane) {
  if (type == hlo::kF16 && UsesCpuExtension(CpuExtension::kF16c)) {
    memory.StoreHalves(lane.part[0]);
    return true;
  }
  if (type != hlo::kBF16) return false;
  Lane rounded;
  if (!Translate(l_, {.op = TileOp::Narrow(type), .a = lane}, &rounded)) return false;
  memory.Store(l_.ShiftRight(rounded.part[0], 16), 2);
  return true;
}

bool Emitter::PaysCalls() const { return call_costs_ <= static_cast<int>(program_.code().size()); }

bool Emitter::CallFunction(const Instruction& instruction, const Extent& extent, Lane* out) {
  const Value& result = program_.values()[static_cast<size_t>(instruction.out)];
  if (instruction.function == nullptr) return false;
  call_costs_ += CostOfCall(instruction.op);
  constexpr int kPlaceBytes = 128;  // A vector's elements of the widest carrier.
  if (!has_stack_) stack_ = cc_.newStack(4 * kPlaceBytes + sizeof(TileCall), 64);
  has_stack_ = true;
  const x86::Gp zero = cc_.newInt64();
  cc_.xor_(zero, zero);
  const Extent all{.whole = !extent.one, .one = extent.one};
  const auto place = [&](int number) {
    const x86::Gp address = cc_.newUIntPtr();
    x86::Mem at = stack_;
    at.addOffset(number * kPlaceBytes);
    cc_.lea(address, at);
    return address;
  };
  x86::Gp addresses[4];
  const int ids[] = {instruction.a, instruction.b, instruction.c};
  addresses[0] = place(0);
  for (int i = 0; i < 3; ++i) {
    addresses[i + 1] = addresses[0];
    if (ids[i] < 0) continue;
    addresses[i + 1] = place(i + 1);
    const Carrier carrier = program_.values()[static_cast<size_t>(ids[i])].carrier;
    const Lane operand = ValueOf(ids[i], extent);
    Memory memory(l_, addresses[i + 1], zero, all);
    if (carrier == Carrier::kPred) memory.StorePreds(operand.mask);
    else if (IsWide(carrier)) memory.StoreWide(operand.part);
    else memory.Store(operand.part[0], CarrierBytes(carrier));
  }
  x86::Mem frame = stack_;
  frame.addOffset(4 * kPlaceBytes);
  PutNumber(cc_, frame, offsetof(TileCall, function), reinterpret_cast<uint64_t>(instruction.function));
  for (size_t i = 0; i < 4; ++i) {
    x86::Mem at = frame;
    at.addOffset(static_cast<int64_t>(offsetof(TileCall, operands) + 8 * i));
    cc_.mov(at, addresses[i]);
  }
  PutNumber(cc_, frame, offsetof(TileCall, count), extent.one ? 1 : static_cast<uint64_t>(l_.count()));
  PutNumber(cc_, frame, offsetof(TileCall, immediate), static_cast<uint64_t>(instruction.immediate));
  const x86::Gp call = cc_.newUIntPtr();
  cc_.lea(call, frame);
  asmjit::InvokeNode* invoke = nullptr;
  cc_.invoke(&invoke, reinterpret_cast<uint64_t>(&RunTileCall),
             asmjit::FuncSignatureT<void, const void*>(asmjit::CallConvId::kHost));
  if (invoke == nullptr) return false;
  invoke->setArg(0, call);
  const x86::Gp made = place(0);
  cc_.xor_(zero, zero);
  const bool stores = instruction.op.kind == TileOp::Kind::kStore;
  Memory memory(l_, made, zero, all);
  if (stores) out->part[0] = memory.Load(result.width, false);
  else *out = LoadCarrier(memory, result.carrier);
  return true;
}

bool Emitter::Sine(const Instruction& instruction, const Call& call, const Extent& extent, Lane* out) {
  const asmjit::Label done = cc_.newLabel();
  Lane common, called;
  TranslateSine(l_, call, &common);
  const Num result = l_.NewNum(false);
  Copy(common.part[0], result);
  const Mask right = SinesAreRight(l_, call.a.part[0]);
  const x86::Gp bits = cc_.newUInt32();
  if (l_.avx512()) cc_.kmovw(bits, right.k);
  else cc_.vmovmskps(bits, right.v);
  if (extent.one) {
    cc_.test(bits, 1);
    cc_.jnz(done);
  } else {
    cc_.cmp(bits, (1 << l_.count()) - 1);
    cc_.je(done);
  }
  const int costs = call_costs_;
  if (!CallFunction(instruction, extent, &called)) return false;
  call_costs_ = costs;  // Large angles are rare.
  Copy(called.part[0], result);
  cc_.bind(done);
  out->part[0] = result;
  return true;
}

bool Emitter::Step(const Instruction& instruction, size_t position, const Extent& extent) {
  const auto out = static_cast<size_t>(instruction.out);
  const Value& result = program_.values()[out];
  const bool stores = result.place == Place::kOutput;
  if (IsRead(instruction)) {
    const size_t operand = operand_of_read_[position];
    if (IsSame(operands_[operand]) && !by_elements_) lanes_[out] = fixed_[position];
    else if (!Read(instruction, operand, extent, &lanes_[out])) return false;
  } else if (instruction.kind == Instruction::Kind::kCopy) {
    lanes_[out] = ValueOf(instruction.a, extent);
    // A bitcast between integers and floats of one width, or of preds and bytes, whose forms differ.
    const Carrier from = program_.values()[static_cast<size_t>(instruction.a)].carrier;
    if ((from == Carrier::kPred) != (result.carrier == Carrier::kPred)) return false;
    if (CarrierBytes(from) < 4 && from != result.carrier) return false;
  } else {
    Call call{.op = instruction.op, .immediate = instruction.immediate, .result = result.carrier};
    Lane* const operands[] = {&call.a, &call.b, &call.c};
    const int ids[] = {instruction.a, instruction.b, instruction.c};
    for (size_t i = 0; i < 3; ++i) {
      if (ids[i] >= 0) *operands[i] = ValueOf(ids[i], extent);
    }
    if (instruction.op.kind == TileOp::Kind::kStore) {
      Memory to = At(operand_of_value_[out], extent);
      if (!stores || StoreAs(to, instruction.op.type, call.a)) return stores;
      Lane stored;
      if (result.width > 2 || !CallFunction(instruction, extent, &stored)) return false;
      to.Store(stored.part[0], result.width);
      return true;
    }
    call.from = instruction.op.kind == TileOp::Kind::kElementwise
                    ? instruction.op.from
                    : program_.values()[static_cast<size_t>(instruction.a)].carrier;
    const bool sine = instruction.op.kind == TileOp::Kind::kElementwise && call.from == Carrier::kF32 &&
                      (instruction.op.opcode == hlo::kSine || instruction.op.opcode == hlo::kCosine);
    if (sine && !Sine(instruction, call, extent, &lanes_[out])) return false;
    if (!sine && !Translate(l_, call, &lanes_[out]) && !CallFunction(instruction, extent, &lanes_[out]))
      return false;
  }
  known_[out] = true;
  if (stores && by_elements_)
    late_.push_back({operand_of_value_[out], element_, result.carrier, lanes_[out]});
  else if (stores)
    StoreCarrier(At(operand_of_value_[out], extent), result.carrier, lanes_[out], extent.whole);
  return true;
}

bool Emitter::Body(const Extent& extent) {
  call_costs_ = 0;
  lanes_.assign(program_.values().size(), {});
  known_.assign(program_.values().size(), false);
  for (Gather& gather : gathers_) gather.is_known = false;
  const size_t prologue = program_.prologue().size();
  for (size_t i = 0; i < prologue; ++i) {
    const auto out = static_cast<size_t>(program_.prologue()[i].out);
    if (by_elements_ || operands_[operand_of_read_[i]].form == ReadForm::kStaged) {
      if (!Step(program_.prologue()[i], i, extent)) return false;
      continue;
    }
    lanes_[out] = fixed_[i];
    known_[out] = true;
  }
  for (size_t i = 0; i < program_.code().size(); ++i) {
    if (!Step(program_.code()[i], prologue + i, extent)) return false;
  }
  return slot_.count() == 1 || PaysCalls();
}

// Returns the extent of the elements from index_ to `end`, at most a vector.
Extent Emitter::Rest(const x86::Gp& end) {
  Extent rest{.whole = false, .count = cc_.newInt64(), .mask = l_.NewMask()};
  const x86::Gp most = cc_.newInt64();
  cc_.mov(rest.count, end);
  cc_.sub(rest.count, index_);
  cc_.mov(most, l_.count());
  cc_.cmp(rest.count, most);
  cc_.cmovg(rest.count, most);
  if (l_.avx512()) {
    const x86::Gp bits = cc_.newUInt32();
    cc_.mov(bits, -1);
    cc_.bzhi(bits, bits, rest.count.r32());
    cc_.kmovd(rest.mask.k, bits);
    return rest;
  }
  int32_t numbers[8];
  for (int i = 0; i < 8; ++i) numbers[i] = i;
  const x86::Xmm low = l_.NewXmm();
  const Num all = l_.NewNum(false);
  cc_.vmovd(low, rest.count.r32());
  cc_.emit(Inst::kIdVpbroadcastd, all.operand, low);
  cc_.emit(Inst::kIdVpcmpgtd, rest.mask.v, all.operand,
           cc_.newConst(asmjit::ConstPoolScope::kLocal, numbers, sizeof(numbers)));
  return rest;
}

bool Emitter::Fold(const Extent& extent, size_t vector) {
  if (slot_.form() == KernelForm::kColumns) return FoldColumns(extent);
  for (size_t f = 0; f < folds_.size(); ++f) {
    const Lane& kept = ValueOf(slot_.folds()[f].kept, extent);
    if (extent.whole) folds_[f]->Whole(kept, vector);
    else folds_[f]->Part(kept, extent);
  }
  return true;
}

// Each element has an accumulator in memory: it is one more operand of the fold's operation.
bool Emitter::FoldColumns(const Extent& extent) {
  constexpr hlo::Opcode kOpcodes[] = {hlo::kAdd, hlo::kMultiply, hlo::kMinimum, hlo::kMaximum,
                                      hlo::kAnd, hlo::kOr,       hlo::kXor};
  for (size_t f = 0; f < slot_.folds().size(); ++f) {
    const KernelFold& fold = slot_.folds()[f];
    const bool in_double = FoldsInDouble(fold.op, fold.carrier);
    const Carrier carrier = in_double ? Carrier::kF64 : fold.carrier;
    Lane element = ValueOf(fold.kept, extent);
    if (carrier != fold.carrier) {
      const Call widen{.op = TileOp::Convert(fold.carrier, carrier),
                       .a = element,
                       .from = fold.carrier,
                       .result = carrier};
      if (Lane wide; Translate(l_, widen, &wide)) element = wide;
      else return false;
    }
    Memory memory = At(accumulators_ + f, extent);
    const TileOp op = TileOp::Elementwise(kOpcodes[static_cast<int>(fold.op)], carrier);
    Lane joined;
    if (!Translate(
            l_,
            {.op = op, .a = LoadCarrier(memory, carrier), .b = element, .from = carrier, .result = carrier},
            &joined))
      return false;
    StoreCarrier(memory, carrier, joined, false);
  }
  return true;
}

// The processor executes only a few vectors ahead when each takes tens of instructions, and its own
// prefetchers begin anew on every page. On Zen 3, exponentials of 4 million elements take 3.5 ms without
// this, and 2.3 with it. Not for AVX-512, where this was not measured.
void Emitter::FetchAhead(int vector) {
  constexpr int64_t kAheadBytes = 2048, kLineBytes = 64;
  if (!slot_.streams() || l_.avx512()) return;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const TileKernel::Operand& operand = operands_[i];
    const bool in_order = operand.kind == OperandKind::kInput ||
                          (operand.kind == OperandKind::kRead && operand.form == ReadForm::kDense);
    const bool begins_line = vector * l_.count() * operand.width % kLineBytes == 0;
    if (!in_order || !begins_line) continue;
    // A step reads only a strip of the columns of a row before it goes on to the next one.
    const bool strips = slot_.form() == KernelForm::kColumns && row_ != 0;
    const int64_t ahead = strips ? std::max(operand.step, kAheadBytes) : kAheadBytes;
    const auto shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(operand.width)));
    cc_.prefetcht0(x86::ptr(pointers_[i], index_, shift, static_cast<int32_t>(ahead)));
  }
}

void Emitter::Advance() {
  for (const Counter& counter : counters_)
    cc_.emit(Inst::kIdVpaddd, counter.numbers.operand, counter.numbers.operand, counter.step.operand);
  cc_.add(index_, l_.count());
}

// All whole vectors, then the rest.
bool Emitter::EmitWhole() {
  const asmjit::Label loop = cc_.newLabel(), rest = cc_.newLabel(), done = cc_.newLabel();
  const x86::Gp end = cc_.newInt64();
  cc_.mov(end, count_);
  cc_.and_(end, -l_.count());
  cc_.cmp(index_, end);
  cc_.jge(rest);
  cc_.bind(loop);
  FetchAhead(0);
  if (!Body({}) || !Fold({}, 0)) return false;
  Advance();
  cc_.cmp(index_, end);
  cc_.jl(loop);
  cc_.bind(rest);
  cc_.cmp(index_, count_);
  cc_.jge(done);
  const Extent extent = Rest(count_);
  if (!Body(extent) || !Fold(extent, 0)) return false;
  cc_.bind(done);
  return true;
}

// The units of one tile, from index_ to `whole_end`.
bool Emitter::EmitTileLoop(const x86::Gp& whole_end) {
  const asmjit::Label block = cc_.newLabel(), loop = cc_.newLabel();
  const x86::Gp block_end = cc_.newInt64();
  for (const auto& fold : folds_) fold->BeginTile();
  cc_.bind(block);
  cc_.lea(block_end, x86::ptr(index_, Folding::kBlock));
  cc_.cmp(block_end, whole_end);
  cc_.cmovg(block_end, whole_end);
  for (const auto& fold : folds_) fold->BeginBlock();
  cc_.bind(loop);
  for (int vector = 0; vector * l_.count() < Folding::kUnit; ++vector) {
    FetchAhead(vector);
    if (!Body({}) || !Fold({}, static_cast<size_t>(vector))) return false;
    Advance();
  }
  cc_.cmp(index_, block_end);
  cc_.jl(loop);
  for (const auto& fold : folds_) fold->EndBlock();
  cc_.cmp(index_, whole_end);
  cc_.jl(block);
  for (const auto& fold : folds_) fold->EndTile();
  return true;
}

// Tile by tile: whole units, then element by element.
bool Emitter::EmitTiles() {
  const asmjit::Label tile = cc_.newLabel(), last = cc_.newLabel(), next = cc_.newLabel();
  const x86::Gp end = cc_.newInt64(), whole_end = cc_.newInt64();
  cc_.bind(tile);
  cc_.lea(end, x86::ptr(index_, kTile));
  cc_.cmp(end, count_);
  cc_.cmovg(end, count_);
  cc_.mov(whole_end, end);
  cc_.sub(whole_end, index_);
  cc_.cmp(whole_end, Folding::kUnit);
  cc_.jl(last);
  cc_.and_(whole_end, -Folding::kUnit);
  cc_.add(whole_end, index_);
  if (!EmitTileLoop(whole_end)) return false;
  cc_.bind(last);
  cc_.cmp(index_, end);
  cc_.jge(next);
  const Extent extent = Rest(end);
  if (!Body(extent) || !Fold(extent, 0)) return false;
  Advance();
  cc_.jmp(last);
  cc_.bind(next);
  cc_.mov(index_, end);
  cc_.cmp(index_, count_);
  cc_.jl(tile);
  return true;
}

bool Emitter::Row() {
  if (!BeginRow()) return false;
  folds_.clear();
  bool in_order = false;
  for (size_t f = 0; slot_.form() == KernelForm::kRows && f < slot_.folds().size(); ++f) {
    folds_.push_back(MakeFolding(l_, slot_.folds()[f]));
    if (folds_.back() == nullptr) return false;
    folds_.back()->Begin(pointers_[accumulators_ + f]);
    in_order = in_order || folds_.back()->in_order();
  }
  if (!(in_order ? EmitTiles() : EmitWhole())) return false;
  for (const auto& fold : folds_) fold->End();
  return true;
}

bool Emitter::EmitInline(const InlineOperands& operands) {
  inline_ = operands;
  if (slot_.form() != KernelForm::kMap || !FindOperands(kKernelOperandsMax)) return false;
  if (operands.cells != nullptr && ByElements()) return EmitElements();
  if (!InlinePrologue()) return false;
  if (slot_.count() != 1) return Rows();
  return BeginRow() && Body({.whole = false, .one = true});
}

// All rows.
bool Emitter::Rows() {
  if (row_ == 0) return Row();
  const asmjit::Label row = cc_.newLabel();
  cc_.bind(row);
  if (!Row()) return false;
  EndRow();
  cc_.dec(rows_);
  cc_.jnz(row);
  return true;
}

bool Emitter::Emit() {
  if (!FindOperands(kKernelRunsMax) || !Prologue()) return false;
  if (!Rows()) return false;
  if (past_caches_) cc_.sfence();
  cc_.endFunc();
  return true;
}

}  // namespace hlod::engine::assemble
