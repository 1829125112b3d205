// Assigns registers, and runs tile programs.
#include "server/engine/tile/program.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "common/base/system/cpu.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

constexpr int64_t kSlotAlign = 64;

// A view is read in runs when they have at least this many elements; shorter ones cost more than they save,
// unless machine code computes several runs at a time.
constexpr int64_t kRunMin = 64, kRowMin = 8;
// The numbers of an iota are computed as s32 when they cannot exceed it.
constexpr double kExactNumbers = 1 << 30;

bool IsRead(const TileProgram::Instruction& instruction) {
  return instruction.kind == TileProgram::Instruction::Kind::kReadView ||
         instruction.kind == TileProgram::Instruction::Kind::kReadIota;
}

}  // namespace

void TileProgram::AssignRegisters() {
  slot_bytes_ = kTile * 4;
  for (const Value& value : values_) {
    slot_bytes_ = std::max<int64_t>(slot_bytes_, kTile * CarrierBytes(value.carrier));
  }
  std::vector<int> free;
  int slots = 0;
  const auto take = [&] {
    if (free.empty()) return slots++;
    const int slot = free.back();
    free.pop_back();
    return slot;
  };
  for (const Instruction& instruction : prologue_) values_[instruction.out].index = take();
  for (size_t i = 0; i < code_.size(); ++i) {
    const Instruction& instruction = code_[i];
    // The result may take the slot of an operand that is last used here, because functions work in place.
    // Instructions that read memory do not take operands.
    int freed[3], count = 0;
    for (int operand : {instruction.a, instruction.b, instruction.c}) {
      if (operand < 0) continue;
      Value& value = values_[operand];
      if (value.place != Value::Place::kRegister || value.whole_run || value.last_use != static_cast<int>(i))
        continue;
      value.last_use = -2;  // Frees the slot once, even if the value is both operands.
      freed[count++] = value.index;
    }
    Value& out = values_[instruction.out];
    // Carriers have different widths, and a result wider than its operand would overwrite elements before
    // they are read, so only equal widths work in place.
    bool in_place = true;
    for (int operand : {instruction.a, instruction.b, instruction.c}) {
      if (operand >= 0 && CarrierBytes(values_[operand].carrier) != CarrierBytes(out.carrier))
        in_place = false;
    }
    if (in_place) free.insert(free.end(), freed, freed + count);
    if (out.place == Value::Place::kRegister) out.index = take();
    if (!in_place) free.insert(free.end(), freed, freed + count);
    if (out.place == Value::Place::kRegister && out.last_use == -1)
      free.push_back(out.index);  // The value
                                  // is never
                                  // read.
  }
  // One more slot is temporary memory for views, before their elements are widened.
  workspace_bytes_ = AlignUp((slots + 1) * slot_bytes_ + kTile * 8, kSlotAlign);
}

HLOD_ALWAYS_INLINE void* TileProgram::Pointer(int value, const std::byte* const* inputs,
                                              std::byte* const* outputs, std::byte* workspace,
                                              int64_t start) const {
  const Value& v = values_[value];
  switch (v.place) {
    case Value::Place::kRegister: return workspace + kTile * 8 + v.index * slot_bytes_;
    case Value::Place::kConstant: return const_cast<std::byte*>(constants_[0].bytes + v.index);
    case Value::Place::kInput: return const_cast<std::byte*>(inputs[v.index] + start * v.width);
    case Value::Place::kOutput: return outputs[v.index] + start * v.width;
  }
  return nullptr;
}

void TileProgram::Read(const Instruction& instruction, const std::byte* const* inputs, int64_t start, int n,
                       std::byte* out, std::byte* temporary) const {
  const View& view = views_[instruction.view];
  if (instruction.kind == Instruction::Kind::kReadIota) {
    auto* numbers = reinterpret_cast<int64_t*>(instruction.function == nullptr ? out : temporary);
    ReadIota(view, start, n, numbers);
    if (instruction.function != nullptr) instruction.function(out, numbers, nullptr, nullptr, n, 0);
    return;
  }
  const std::byte* const base = inputs[instruction.input];
  if (instruction.function == nullptr) {
    ReadView(view, base, instruction.width, start, n, out);
    return;
  }
  const std::byte* from = base + start * instruction.width;
  if (!view.IsIdentity()) {
    ReadView(view, base, instruction.width, start, n, temporary);
    from = temporary;
  }
  instruction.function(out, from, nullptr, nullptr, n, 0);
}

void TileProgram::Stage(const Instruction& read, const std::byte* const* inputs, int64_t start, int n,
                        std::byte* out, std::byte* temporary) const {
  Read(read, inputs, start, n, out, temporary);
}

int64_t TileProgram::CommonRun() const {
  int64_t least = 0;
  bool common = true;
  for (const bool counts : {false, true}) {
    for (const std::vector<Instruction>* list : {&prologue_, &code_}) {
      for (const Instruction& instruction : *list) {
        if (!IsRead(instruction)) continue;
        const View& view = views_[instruction.view];
        if (view.IsScalar() || view.IsIdentity() || view.dims.size() > kRunDimensionsMax) continue;
        const int64_t run = view.dims.back().size;
        if (run < kRowMin) continue;
        if (!counts) least = least == 0 ? run : std::min(least, run);
        else common = common && run % least == 0;
      }
    }
  }
  // Other runs are as good as rows if they are long.
  return common || least < kRunMin ? least : 0;
}

TileProgram::ReadForm TileProgram::ReadFormOf(const Instruction& read) const {
  const View& view = views_[read.view];
  const View::Dimension inner = view.dims.back();
  const bool keeps_rows =
      inner.size % row_ == 0 || (row_ % inner.size == 0 && inner.size % kTile == 0);
  const bool short_rows = kernel_row_ != 0 && inner.size % kernel_row_ == 0;
  const bool runs =
      (inner.size >= kRunMin || short_rows) && view.dims.size() <= kRunDimensionsMax && keeps_rows;
  if (read.kind == Instruction::Kind::kReadIota) {
    // Larger numbers would not be exact on their way to a float.
    const Carrier carrier = values_[read.out].carrier;
    double largest = static_cast<double>(std::abs(view.offset));
    for (const View::Dimension& d : view.dims)
      largest += static_cast<double>(d.size - 1) * std::abs(static_cast<double>(d.stride));
    const bool direct = carrier == Carrier::kI32 || carrier == Carrier::kU32 ||
                        (carrier == Carrier::kF32 && largest <= kExactNumbers);
    return runs && direct ? ReadForm::kIota : ReadForm::kStaged;
  }
  // Machine code does not widen other types itself.
  if (read.function != nullptr && read.op.type != hlo::kBF16 && read.op.type != hlo::kF16)
    return ReadForm::kStaged;
  if (view.IsScalar()) return ReadForm::kScalar;
  if (view.IsIdentity()) return ReadForm::kDense;
  return runs && (inner.stride == 0 || inner.stride == 1) ? ReadForm::kRun : ReadForm::kStaged;
}

int TileProgram::StagedReads() const {
  int count = 0;
  for (const std::vector<Instruction>* list : {&prologue_, &code_}) {
    for (const Instruction& instruction : *list) {
      if (IsRead(instruction) && ReadFormOf(instruction) == ReadForm::kStaged) ++count;
    }
  }
  return count;
}

int64_t TileProgram::PeriodOf(const Instruction& read) const {
  const View& view = views_[read.view];
  if (view.dims.size() < 2 || view.dims[0].stride != 0 || view.dims[0].size < 2) return 0;
  const int64_t period = view.count / view.dims[0].size;
  return period <= kPeriodMax ? period : 0;
}

void TileProgram::Execute(const Instruction& instruction, const std::byte* const* inputs,
                          std::byte* const* outputs, std::byte* workspace, int64_t start, int n) const {
  void* out = Pointer(instruction.out, inputs, outputs, workspace, start);
  switch (instruction.kind) {
    case Instruction::Kind::kCall: {
      const void* operand[3] = {};
      const int ids[3] = {instruction.a, instruction.b, instruction.c};
      for (int i = 0; i < 3 && ids[i] >= 0; ++i)
        operand[i] = Pointer(ids[i], inputs, outputs, workspace, start);
      instruction.function(out, operand[0], operand[1], operand[2], n, instruction.immediate);
      return;
    }
    case Instruction::Kind::kReadView:
    case Instruction::Kind::kReadIota:
      Read(instruction, inputs, start, n, static_cast<std::byte*>(out), workspace);
      return;
    case Instruction::Kind::kCopy:
      std::memmove(out, Pointer(instruction.a, inputs, outputs, workspace, start),
                   static_cast<size_t>(n) * instruction.width);
      return;
  }
}

void TileProgram::Begin(const std::byte* const* inputs, std::byte* workspace, int n) const {
  for (const Instruction& instruction : prologue_) Execute(instruction, inputs, nullptr, workspace, 0, n);
}

void TileProgram::RunTile(const std::byte* const* inputs, std::byte* const* outputs, std::byte* workspace,
                          int64_t start, int n) const {
  for (const Instruction& instruction : code_) Execute(instruction, inputs, outputs, workspace, start, n);
}

const void* TileProgram::Kept(int handle, const std::byte* const* inputs, std::byte* const* outputs,
                              std::byte* workspace, int64_t start) const {
  return Pointer(handle, inputs, outputs, workspace, start);
}

bool TileProgram::MayShare(int output, int input) const {
  if (static_cast<size_t>(output) >= outputs_.size() || static_cast<size_t>(input) >= inputs_.size())
    return false;
  const OutputUse& to = outputs_[output];
  const InputUse& from = inputs_[input];
  if (from.viewed || from.width == 0 || to.written < 0) return false;
  return from.width == to.width && from.last_read <= to.written;
}

bool TileProgram::ReadsInOrder(int input) const {
  if (static_cast<size_t>(input) >= inputs_.size()) return false;
  return !inputs_[input].viewed && inputs_[input].width > 0;
}

}  // namespace hlod::engine
