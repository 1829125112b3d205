// Assigns registers, and runs tile programs.
#include "server/engine/tile/program.h"

#include <algorithm>
#include <cstring>

#include "common/base/system/cpu.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

constexpr int64_t kSlotAlign = 64;

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
    case Instruction::Kind::kReadView: {
      const View& view = views_[instruction.view];
      if (instruction.function == nullptr) {
        ReadView(view, inputs[instruction.input], instruction.width, start, n, static_cast<std::byte*>(out));
        return;
      }
      const std::byte* from = inputs[instruction.input] + start * instruction.width;
      if (!view.IsIdentity()) {
        ReadView(view, inputs[instruction.input], instruction.width, start, n, workspace);
        from = workspace;
      }
      instruction.function(out, from, nullptr, nullptr, n, 0);
      return;
    }
    case Instruction::Kind::kReadIota: {
      auto* numbers = reinterpret_cast<int64_t*>(instruction.function == nullptr ? out : workspace);
      ReadIota(views_[instruction.view], start, n, numbers);
      if (instruction.function != nullptr) instruction.function(out, numbers, nullptr, nullptr, n, 0);
      return;
    }
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

}  // namespace hlod::engine
