// Programs of a few elements in a loop's code, which are computed one by one: a vector that ends within would
// be stored by a mask, and scalars would be read from the memory where they were just written, each of which
// takes as long as the arithmetic.
#include <bit>
#include <cstdint>

#include "server/engine/assemble/emitter.h"

namespace hlod::engine::assemble {
namespace {

// More are faster as a vector, or make much code.
constexpr int64_t kElementsMax = 4, kInstructionsMax = 256;
constexpr Extent kOne{.whole = false, .one = true};

}  // namespace

bool Emitter::ByElements() const {
  const int64_t count = slot_.count();
  if (count > kElementsMax) return false;
  if (count > 1 && count * static_cast<int64_t>(program_.code().size()) > kInstructionsMax) return false;
  for (const Instruction& instruction : program_.code()) {
    // They are stored at once.
    if (count > 1 && instruction.kind == Instruction::Kind::kCall &&
        instruction.op.kind == TileOp::Kind::kStore)
      return false;
  }
  for (const TileKernel::Operand& operand : operands_) {
    for (int64_t e = 0; e < count; ++e) {
      const int64_t offset = ElementOffset(operand, e);
      if (offset != static_cast<int32_t>(offset)) return false;
    }
  }
  return true;
}

int32_t Emitter::InlineSlot(const TileKernel::Operand& operand) const {
  if (operand.kind == OperandKind::kOutput) return inline_.outputs + operand.number;
  return inline_.inputs + (operand.kind == OperandKind::kRead ? operand.read.input : operand.number);
}

int64_t Emitter::ElementOffset(const TileKernel::Operand& operand, int64_t element) const {
  if (operand.kind != OperandKind::kRead) return element * operand.width;
  const View& view = program_.views()[static_cast<size_t>(operand.read.view)];
  int64_t offset = view.offset;
  for (size_t d = view.dims.size(); d-- > 0;) {
    offset += element % view.dims[d].size * view.dims[d].stride;
    element /= view.dims[d].size;
  }
  return operand.read.kind == Instruction::Kind::kReadIota ? offset : offset * operand.width;
}

bool Emitter::AddAccesses(int32_t inputs, int32_t outputs, LoopCells& cells) {
  inline_ = {.table = {}, .inputs = inputs, .outputs = outputs, .cells = &cells};
  if (slot_.form() != KernelForm::kMap || !FindOperands(kKernelOperandsMax)) return false;
  const bool by_elements = ByElements();
  for (const TileKernel::Operand& operand : operands_) {
    if (operand.kind == OperandKind::kRead && operand.read.kind == Instruction::Kind::kReadIota) continue;
    const bool writes = operand.kind == OperandKind::kOutput;
    if (by_elements) {
      for (int64_t e = 0; e < slot_.count(); ++e)
        cells.AddScalar(InlineSlot(operand), ElementOffset(operand, e), operand.width, writes);
    } else if (operand.kind == OperandKind::kRead && operand.form == ReadForm::kScalar) {
      cells.AddScalar(InlineSlot(operand), ElementOffset(operand, 0), operand.width, false);
    } else {
      cells.AddSlot(InlineSlot(operand));
    }
  }
  return true;
}

Memory Emitter::At(size_t operand, const Extent& extent) {
  if (!by_elements_) return {l_, pointers_[operand], index_, extent};
  const TileKernel::Operand& place = operands_[operand];
  const auto offset = static_cast<int32_t>(ElementOffset(place, element_));
  const Cell* const cell = inline_.cells->Find(InlineSlot(place), offset, place.width);
  x86::Gp& pointer = pointers_[operand];
  if (cell == nullptr && !pointer.isValid()) {
    pointer = cc_.newUIntPtr();
    cc_.mov(pointer, x86::ptr(inline_.table, 8 * InlineSlot(place)));
  }
  return {l_, pointer, offset, cell, kOne};
}

bool Emitter::ReadNumber(const Instruction& iota, size_t operand, Lane* out) {
  const Carrier carrier = program_.values()[static_cast<size_t>(iota.out)].carrier;
  if (iota.function != nullptr || CarrierBytes(carrier) < 4 || IsComplexCarrier(carrier)) return false;
  const int64_t number = ElementOffset(operands_[operand], element_);
  const bool wide = IsWide(carrier);
  if (IsFloatCarrier(carrier)) out->part[0] = l_.Float(static_cast<double>(number), wide);
  else out->part[0] = l_.Bits(static_cast<uint64_t>(number), wide);
  out->part[1] = out->part[0];
  return true;
}

bool Emitter::EmitElements() {
  by_elements_ = true;
  l_.SetNarrow();
  fixed_.resize(operand_of_read_.size());
  pointers_.resize(operands_.size());
  for (element_ = 0; element_ < slot_.count(); ++element_) {
    if (!Body(kOne)) return false;
  }
  for (const Late& late : late_) {
    element_ = late.element;
    StoreCarrier(At(late.operand, kOne), late.carrier, late.lane, false);
  }
  return true;
}

}  // namespace hlod::engine::assemble
