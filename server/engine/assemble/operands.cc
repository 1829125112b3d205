// The operands of a kernel: pointers, the distances from a row to the next, and what is read once per row or
// per call.
#include <cstdlib>
#include <tuple>
#include <vector>

#include "server/engine/assemble/emitter.h"

namespace hlod::engine::assemble {

bool Emitter::IsRead(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::kReadView || instruction.kind == Instruction::Kind::kReadIota;
}

bool Emitter::IsSame(const TileKernel::Operand& operand) const {
  if (operand.kind != OperandKind::kRead) return false;
  if (operand.form == ReadForm::kScalar) return true;
  return operand.form == ReadForm::kRun &&
         program_.views()[static_cast<size_t>(operand.read.view)].dims.back().stride == 0;
}

void Emitter::AddRead(const Instruction& read) {
  operand_of_read_.push_back(kNoOperand);
  if (!IsRead(read)) return;
  operand_of_read_.back() = operands_.size();
  operands_.push_back(
      {.kind = OperandKind::kRead, .width = read.width, .read = read, .form = program_.ReadFormOf(read)});
}

bool Emitter::FindOperands(size_t runs_max) {
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
    if (operand.kind == OperandKind::kRead &&
        (operand.form == ReadForm::kRun || operand.form == ReadForm::kIota))
      ++runs;
  }
  FindRows();
  return operands_.size() <= kKernelOperandsMax && runs <= runs_max &&
         slot_.folds().size() <= kKernelFoldsMax;
}

// Sets the bytes (for an iota: numbers) from an operand's row to the next. Returns false if they are not
// constant.
bool Emitter::FindStep(TileKernel::Operand& operand) const {
  const auto of_fold = static_cast<size_t>(operand.number);
  switch (operand.kind) {
    case OperandKind::kInput:
    case OperandKind::kOutput: operand.step = row_ * operand.width; return true;
    case OperandKind::kAccumulator:
      if (slot_.form() == KernelForm::kRows) operand.step = slot_.folds()[of_fold].accumulator_bytes();
      return true;
    case OperandKind::kRead: break;
  }
  switch (operand.form) {
    case ReadForm::kDense: operand.step = row_ * operand.width; return true;
    case ReadForm::kStaged:
      operand.step = row_ * CarrierBytes(program_.values()[static_cast<size_t>(operand.read.out)].carrier);
      return true;
    case ReadForm::kRun:
    case ReadForm::kIota: break;
    default: return true;
  }
  const auto& dims = program_.views()[static_cast<size_t>(operand.read.view)].dims;
  const int64_t run = dims.back().size, unit = operand.form == ReadForm::kRun ? operand.width : 1;
  if (run % row_ != 0) return false;
  if (run > row_) operand.step = row_ * dims.back().stride * unit;
  else if (dims.size() > 1) operand.step = dims[dims.size() - 2].stride * unit;
  return true;
}

// Finds the steps of all operands, or sets row_ to 0 if one has none that is constant and fits in an
// instruction, 32 bits.
void Emitter::FindRows() {
  row_ = program_.kernel_row();
  for (TileKernel::Operand& operand : operands_) {
    if (row_ == 0) return;
    if (!FindStep(operand) || std::abs(operand.step) > INT32_MAX) row_ = 0;
  }
}

// Reads one element into every element of a vector.
bool Emitter::Broadcast(const Instruction& read, const x86::Gp& from, const Cell* cell, Lane* out) {
  const Carrier carrier = program_.values()[static_cast<size_t>(read.out)].carrier;
  const int width = read.width;
  if (width >= 4) {
    const bool wide = width == 8;
    out->part[0] = l_.NewNum(wide);
    const uint32_t id = wide ? Inst::kIdVbroadcastsd : Inst::kIdVbroadcastss;
    if (cell != nullptr) cc_.emit(id, out->part[0].operand, cell->vector);
    else cc_.emit(id, out->part[0].operand, x86::ptr(from, 0, static_cast<uint32_t>(width)));
    if (wide) out->part[1] = out->part[0];
    return read.function == nullptr;
  }
  const x86::Gp word = cc_.newUInt32();
  const x86::Mem at = x86::ptr(from, 0, static_cast<uint32_t>(width));
  if (cell != nullptr && IsSignedCarrier(carrier)) cc_.movsx(word, cell->word.r8());
  else if (cell != nullptr) cc_.movzx(word, cell->word.r8());
  else if (IsSignedCarrier(carrier)) cc_.movsx(word, at);
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
  const x86::Mem table =
      cc_.newConst(asmjit::ConstPoolScope::kLocal, offsets, static_cast<size_t>(l_.bytes()));
  Num first = l_.NewNum(false);
  if (pointers_[operand].isValid())
    cc_.emit(Inst::kIdVpbroadcastd, first.operand, x86::ptr(pointers_[operand], 0, 4));
  else first = l_.InRegister(l_.Bits(static_cast<uint64_t>(view.offset), false));
  counters_.push_back({.operand = operand,
                       .first = l_.AddInt(first, {&l_, false, table}),
                       .numbers = l_.NewNum(false),
                       .step = l_.Bits(static_cast<uint32_t>(l_.count()) * stride, false)});
}

bool Emitter::Prologue() {
  const x86::Gp array = cc_.newUIntPtr();
  count_ = cc_.newInt64();
  asmjit::FuncNode* const function =
      cc_.addFunc(asmjit::FuncSignatureT<void, const void*, int64_t, int64_t>(asmjit::CallConvId::kHost));
  if (function == nullptr) return false;
  function->frame().setAvxEnabled();
  if (l_.avx512()) function->frame().setAvx512Enabled();
  function->frame().setAvxCleanup();
  function->setArg(0, array);
  function->setArg(1, count_);
  rows_ = cc_.newInt64();
  function->setArg(2, rows_);
  index_ = cc_.newInt64();
  for (size_t i = 0; i < operands_.size(); ++i) {
    pointers_.push_back(cc_.newUIntPtr());
    cc_.mov(pointers_.back(), x86::ptr(array, static_cast<int32_t>(8 * i)));
  }
  return ReadScalars();
}

// Begins the iotas, and reads the operands that are the same for all rows.
bool Emitter::ReadScalars() {
  fixed_.resize(operand_of_read_.size());
  for (size_t p = 0; p < operand_of_read_.size(); ++p) {
    const size_t operand = operand_of_read_[p];
    if (operand == kNoOperand) continue;
    if (operands_[operand].kind == OperandKind::kRead && operands_[operand].form == ReadForm::kIota)
      Count(operand);
    if (operands_[operand].kind != OperandKind::kRead || operands_[operand].form != ReadForm::kScalar)
      continue;
    const Cell* cell = nullptr;
    if (inline_.cells != nullptr)
      cell = inline_.cells->Find(InlineSlot(operands_[operand]), ElementOffset(operands_[operand], 0),
                                 operands_[operand].width);
    if (!Broadcast(operands_[operand].read, pointers_[operand], cell, &fixed_[p])) return false;
  }
  return true;
}

bool Emitter::BeginRow() {
  for (size_t p = 0; p < operand_of_read_.size(); ++p) {
    const size_t operand = operand_of_read_[p];
    if (operand == kNoOperand || operands_[operand].form != ReadForm::kRun) continue;
    if (IsSame(operands_[operand]) &&
        !Broadcast(operands_[operand].read, pointers_[operand], nullptr, &fixed_[p]))
      return false;
  }
  for (const Counter& counter : counters_) Copy(counter.first, counter.numbers);
  cc_.xor_(index_, index_);
  return true;
}

void Emitter::EndRow() {
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].form != ReadForm::kIota && operands_[i].step != 0)
      cc_.add(pointers_[i], static_cast<int32_t>(operands_[i].step));
  }
  for (const Counter& counter : counters_) {
    const auto step = static_cast<uint32_t>(operands_[counter.operand].step);
    Copy(l_.AddInt(counter.first, l_.Bits(step, false)), counter.first);
  }
}

bool Emitter::HasRuns(int64_t row) const {
  if (slot_.count() % row != 0) return false;
  for (const TileKernel::Operand& operand : operands_) {
    if (operand.kind != OperandKind::kRead) continue;
    const View& view = program_.views()[static_cast<size_t>(operand.read.view)];
    if (operand.form == ReadForm::kStaged) return false;
    // All rows must be at the same distance.
    if ((operand.form == ReadForm::kRun || operand.form == ReadForm::kIota) &&
        view.dims.size() > (view.dims.back().size == row ? 2 : 1))
      return false;
    if (view.dims.back().size == row && row == slot_.count() && view.dims.size() > 1) return false;
  }
  return true;
}

// Sets the pointers from the table. The count of rows and their lengths are constants.
bool Emitter::InlinePrologue() {
  int64_t row = row_ != 0 && slot_.count() > row_ ? row_ : slot_.count();
  if (!HasRuns(row)) {
    if (!FindGathers()) return false;
    row = slot_.count();
  }
  row_ = row == slot_.count() ? 0 : row;
  for (const TileKernel::Operand& operand : operands_) {
    const bool is_read = operand.kind == OperandKind::kRead;
    x86::Gp& pointer = pointers_.emplace_back();
    if (is_read && operand.read.kind == Instruction::Kind::kReadIota) continue;
    pointer = cc_.newUIntPtr();
    cc_.mov(pointer, x86::ptr(inline_.table, 8 * InlineSlot(operand)));
    if (!is_read || operand.form == ReadForm::kDense) continue;
    const int64_t offset = program_.views()[static_cast<size_t>(operand.read.view)].offset * operand.width;
    if (offset != static_cast<int32_t>(offset)) return false;
    if (offset != 0) cc_.add(pointer, static_cast<int32_t>(offset));
  }
  BeginGathers();
  count_ = cc_.newInt64();
  cc_.mov(count_, row);
  if (row_ != 0) {
    rows_ = cc_.newInt64();
    cc_.mov(rows_, slot_.count() / row);
  }
  index_ = cc_.newInt64();
  return ReadScalars();
}

}  // namespace hlod::engine::assemble
