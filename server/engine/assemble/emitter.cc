// The loop, its operands and its memory. Values that the interpreter keeps in tiles are registers here, and
// each input is read once.
#include "server/engine/assemble/emitter.h"

#include <cstring>
#include <tuple>

#include "common/base/system/cpu.h"

namespace hlod::engine::assemble {
namespace {

using OperandKind = TileKernel::Operand::Kind;
using ReadForm = TileProgram::ReadForm;
using Place = TileProgram::Value::Place;

constexpr size_t kNoOperand = ~size_t{0};

bool IsRead(const TileProgram::Instruction& instruction) {
  return instruction.kind == TileProgram::Instruction::Kind::kReadView ||
         instruction.kind == TileProgram::Instruction::Kind::kReadIota;
}

// Returns true if each call of the code computes from one element only.
bool IsSame(const TileProgram& program, const TileKernel::Operand& operand) {
  if (operand.kind != OperandKind::kRead) return false;
  if (operand.form == ReadForm::kScalar) return true;
  return operand.form == ReadForm::kRun &&
         program.views()[static_cast<size_t>(operand.read.view)].dims.back().stride == 0;
}

}  // namespace

void Emitter::AddRead(const Instruction& read) {
  operand_of_read_.push_back(kNoOperand);
  if (!IsRead(read)) return;
  operand_of_read_.back() = operands_.size();
  operands_.push_back({.kind = OperandKind::kRead, .width = read.width, .read = read, .form = program_.ReadFormOf(read)});
}

bool Emitter::FindOperands() {
  for (const Instruction& instruction : program_.prologue()) AddRead(instruction);
  for (const Instruction& instruction : program_.code()) AddRead(instruction);
  // One operand per input and output, whichever values stand for it.
  std::vector<std::tuple<OperandKind, int, size_t>> found;
  operand_of_value_.assign(program_.values().size(), kNoOperand);
  for (size_t v = 0; v < program_.values().size(); ++v) {
    const Value& value = program_.values()[v];
    if (IsComplexCarrier(value.carrier)) return false;
    if (value.place != Place::kInput && value.place != Place::kOutput) continue;
    const OperandKind kind = value.place == Place::kInput ? OperandKind::kInput : OperandKind::kOutput;
    for (const auto& [other, number, operand] : found) {
      if (other == kind && number == value.index) operand_of_value_[v] = operand;
    }
    if (operand_of_value_[v] != kNoOperand) continue;
    operand_of_value_[v] = operands_.size();
    found.emplace_back(kind, value.index, operands_.size());
    operands_.push_back({.kind = kind, .number = value.index, .width = value.width});
  }
  accumulators_ = operands_.size();
  for (size_t f = 0; f < slot_.folds().size(); ++f) {
    const int width = slot_.form() == KernelForm::kColumns ? slot_.folds()[f].accumulator_bytes() : 0;
    operands_.push_back({.kind = OperandKind::kAccumulator, .number = static_cast<int>(f), .width = width});
  }
  size_t runs = 0;
  for (const TileKernel::Operand& operand : operands_) {
    if (operand.kind == OperandKind::kRead && (operand.form == ReadForm::kRun || operand.form == ReadForm::kIota))
      ++runs;
  }
  return operands_.size() <= kKernelOperandsMax && runs <= kKernelRunsMax &&
         slot_.folds().size() <= kKernelFoldsMax;
}

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

// Reads one element into every element of a vector.
bool Emitter::Broadcast(const Instruction& read, const x86::Gp& from, Lane* out) {
  const Carrier carrier = program_.values()[static_cast<size_t>(read.out)].carrier;
  const int width = read.width;
  if (width >= 4) {
    const bool wide = width == 8;
    out->part[0] = l_.NewNum(wide);
    cc_.emit(wide ? Inst::kIdVbroadcastsd : Inst::kIdVbroadcastss, out->part[0].operand,
             x86::ptr(from, 0, static_cast<uint32_t>(width)));
    if (wide) out->part[1] = out->part[0];
    return read.function == nullptr;
  }
  const x86::Gp word = cc_.newUInt32();
  const x86::Mem at = x86::ptr(from, 0, static_cast<uint32_t>(width));
  if (IsSignedCarrier(carrier)) cc_.movsx(word, at);
  else cc_.movzx(word, at);
  const x86::Xmm low = l_.NewXmm();
  cc_.vmovd(low, word);
  Lane stored;
  stored.part[0] = l_.NewNum(false);
  cc_.emit(Inst::kIdVpbroadcastd, stored.part[0].operand, low);
  if (carrier == Carrier::kPred) {
    out->mask = l_.CompareInt(Order::kNe, stored.part[0], l_.Bits(0, false), true);
    return true;
  }
  if (read.function == nullptr) {
    *out = stored;
    return true;
  }
  return Translate(l_, {.op = read.op, .a = stored, .from = Carrier::kU16, .result = carrier}, out);
}

// Starts an iota: its first number, and one step more for each element.
void Emitter::Count(size_t operand) {
  const View& view = program_.views()[static_cast<size_t>(operands_[operand].read.view)];
  const auto stride = static_cast<uint32_t>(view.dims.back().stride);
  uint32_t offsets[16];
  for (uint32_t i = 0; i < 16; ++i) offsets[i] = i * stride;
  const x86::Mem table = cc_.newConst(asmjit::ConstPoolScope::kLocal, offsets, static_cast<size_t>(l_.bytes()));
  const Num first = l_.NewNum(false);
  cc_.emit(Inst::kIdVpbroadcastd, first.operand, x86::ptr(pointers_[operand], 0, 4));
  counters_.push_back({.operand = operand,
                       .numbers = l_.AddInt(first, {&l_, false, table}),
                       .step = l_.Bits(static_cast<uint32_t>(l_.count()) * stride, false)});
}

bool Emitter::Prologue() {
  const x86::Gp array = cc_.newUIntPtr();
  count_ = cc_.newInt64();
  asmjit::FuncNode* const function =
      cc_.addFunc(asmjit::FuncSignatureT<void, const void*, int64_t>(asmjit::CallConvId::kHost));
  if (function == nullptr) return false;
  function->frame().setAvxEnabled();
  if (l_.avx512()) function->frame().setAvx512Enabled();
  function->frame().setAvxCleanup();
  function->setArg(0, array);
  function->setArg(1, count_);
  for (size_t i = 0; i < operands_.size(); ++i) {
    pointers_.push_back(cc_.newUIntPtr());
    cc_.mov(pointers_.back(), x86::ptr(array, static_cast<int32_t>(8 * i)));
  }
  fixed_.resize(operand_of_read_.size());
  for (size_t p = 0; p < operand_of_read_.size(); ++p) {
    const size_t operand = operand_of_read_[p];
    if (operand == kNoOperand) continue;
    if (operands_[operand].kind == OperandKind::kRead && operands_[operand].form == ReadForm::kIota) Count(operand);
    if (IsSame(program_, operands_[operand]) &&
        !Broadcast(operands_[operand].read, pointers_[operand], &fixed_[p]))
      return false;
  }
  index_ = cc_.newInt64();
  cc_.xor_(index_, index_);
  return true;
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
  if (operands_[operand].form == ReadForm::kIota) {
    for (const Counter& counter : counters_) {
      if (counter.operand != operand) continue;
      if (carrier != Carrier::kF32) out->part[0] = counter.numbers;
      else out->part[0] = l_.Apply(Inst::kIdVcvtdq2ps, counter.numbers, false);
    }
    return true;
  }
  Memory memory = At(operand, extent);
  if (read.function == nullptr || operands_[operand].form == ReadForm::kStaged) {
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

bool Emitter::Step(const Instruction& instruction, size_t position, const Extent& extent) {
  const auto out = static_cast<size_t>(instruction.out);
  const Value& result = program_.values()[out];
  const bool stores = result.place == Place::kOutput;
  if (IsRead(instruction)) {
    const size_t operand = operand_of_read_[position];
    if (IsSame(program_, operands_[operand])) lanes_[out] = fixed_[position];
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
    if (instruction.op.kind == TileOp::Kind::kStore)
      return stores && StoreAs(At(operand_of_value_[out], extent), instruction.op.type, call.a);
    call.from = instruction.op.kind == TileOp::Kind::kElementwise
                    ? instruction.op.from
                    : program_.values()[static_cast<size_t>(instruction.a)].carrier;
    if (!Translate(l_, call, &lanes_[out])) return false;
  }
  known_[out] = true;
  if (stores) StoreCarrier(At(operand_of_value_[out], extent), result.carrier, lanes_[out], extent.whole);
  return true;
}

bool Emitter::Body(const Extent& extent) {
  lanes_.assign(program_.values().size(), {});
  known_.assign(program_.values().size(), false);
  const size_t prologue = program_.prologue().size();
  for (size_t i = 0; i < prologue; ++i) {
    const auto out = static_cast<size_t>(program_.prologue()[i].out);
    lanes_[out] = fixed_[i];
    known_[out] = true;
  }
  for (size_t i = 0; i < program_.code().size(); ++i) {
    if (!Step(program_.code()[i], prologue + i, extent)) return false;
  }
  return true;
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
      const Call widen{.op = TileOp::Convert(fold.carrier, carrier), .a = element, .from = fold.carrier, .result = carrier};
      if (Lane wide; Translate(l_, widen, &wide)) element = wide;
      else return false;
    }
    Memory memory = At(accumulators_ + f, extent);
    const TileOp op = TileOp::Elementwise(kOpcodes[static_cast<int>(fold.op)], carrier);
    Lane joined;
    if (!Translate(l_, {.op = op, .a = LoadCarrier(memory, carrier), .b = element, .from = carrier, .result = carrier}, &joined))
      return false;
    StoreCarrier(memory, carrier, joined, false);
  }
  return true;
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
  const asmjit::Label loop = cc_.newLabel();
  for (const auto& fold : folds_) fold->BeginTile();
  cc_.bind(loop);
  for (int vector = 0; vector * l_.count() < Folding::kUnit; ++vector) {
    if (!Body({}) || !Fold({}, static_cast<size_t>(vector))) return false;
    Advance();
  }
  cc_.cmp(index_, whole_end);
  cc_.jl(loop);
  for (const auto& fold : folds_) fold->EndTile();
  return true;
}

// Tile by tile: whole units if there are at least two, then element by element.
bool Emitter::EmitTiles() {
  const asmjit::Label tile = cc_.newLabel(), last = cc_.newLabel(), next = cc_.newLabel();
  const x86::Gp end = cc_.newInt64(), whole_end = cc_.newInt64();
  cc_.bind(tile);
  cc_.lea(end, x86::ptr(index_, kTile));
  cc_.cmp(end, count_);
  cc_.cmovg(end, count_);
  cc_.mov(whole_end, end);
  cc_.sub(whole_end, index_);
  cc_.cmp(whole_end, 2 * Folding::kUnit);
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

bool Emitter::Emit() {
  if (!FindOperands() || !Prologue()) return false;
  bool in_order = false;
  for (size_t f = 0; slot_.form() == KernelForm::kRows && f < slot_.folds().size(); ++f) {
    folds_.push_back(MakeFolding(l_, slot_.folds()[f]));
    if (folds_.back() == nullptr) return false;
    folds_.back()->Begin(pointers_[accumulators_ + f]);
    in_order = in_order || folds_.back()->in_order();
  }
  if (!(in_order ? EmitTiles() : EmitWhole())) return false;
  for (const auto& fold : folds_) fold->End();
  if (past_caches_) cc_.sfence();
  cc_.endFunc();
  return true;
}

}  // namespace hlod::engine::assemble
