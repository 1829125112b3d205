// The values of a loop are in the memory that the plan assigned to them whenever its code returns, so that
// the interpreter can go on at any jump back: a small loop costs the loads and stores, and not the dispatch
// of its steps. Meanwhile, scalars are in registers (loop_cells.h).
#include "server/engine/assemble/loops.h"

#include <cstddef>

#include "server/engine/assemble/emitter.h"
#include "server/engine/run/step_copies.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine::assemble {
namespace {

// Longer copies are called.
constexpr int64_t kCopyBytesMax = 1024;
// A switch of more branches returns to the interpreter.
constexpr int32_t kBranchesMax = 16;

}  // namespace

x86::Gp LoopEmitter::Pointer(int32_t slot) {
  const x86::Gp pointer = cc_.newUIntPtr();
  cc_.mov(pointer, x86::ptr(table_, 8 * slot));
  return pointer;
}

asmjit::Label LoopEmitter::Target(int32_t pc) {
  if (Inside(pc)) return labels_[static_cast<size_t>(pc - slot_.begin())];
  for (const Exit& exit : exits_) {
    if (exit.pc == pc) return exit.label;
  }
  return exits_.emplace_back(Exit{cc_.newLabel(), pc}).label;
}

// Takes the arguments, and jumps to the loop inside at which the interpreter stands.
void LoopEmitter::Prologue() {
  table_ = cc_.newUIntPtr();
  call_ = cc_.newUIntPtr();
  result_ = cc_.newInt32();
  asmjit::FuncNode* const function =
      cc_.addFunc(asmjit::FuncSignatureT<int32_t, const void*, void*>(asmjit::CallConvId::kHost));
  if (function == nullptr) return;
  function->frame().setAvxEnabled();
  if (avx512_) function->frame().setAvx512Enabled();
  function->frame().setAvxCleanup();
  function->setArg(0, table_);
  function->setArg(1, call_);
  if (called_ != nullptr) cells_.Load(cc_, table_);
  fails_ = cc_.newLabel();
  returns_ = cc_.newLabel();
  for (int32_t pc = slot_.begin(); pc < slot_.end(); ++pc) labels_.push_back(cc_.newLabel());
  for (int32_t pc = slot_.begin() + 1; pc < slot_.end(); ++pc) {
    if (code_.instructions[static_cast<size_t>(pc)].kind != CodeInstruction::Kind::kLoop) continue;
    cc_.cmp(x86::dword_ptr(call_, offsetof(LoopCall, pc)), pc);
    cc_.je(Target(pc));
  }
}

bool LoopEmitter::EmitStep(int32_t pc) {
  const CodeInstruction& run = code_.instructions[static_cast<size_t>(pc)];
  const KernelSlot* const program = LoopProgram(*run.step);
  if (program == nullptr || (called_ != nullptr && IsCalled(pc))) return false;
  asmjit::BaseNode* const before = cc_.cursor();
  Emitter emitter(cc_, avx512_, *program, /*past_caches=*/false);
  const LoopCells* const cells = called_ == nullptr ? nullptr : &cells_;
  if (emitter.EmitInline({table_, run.inputs, run.outputs, cells, &tables_})) {
    ++steps_;
    return true;
  }
  if (called_ != nullptr) {
    (*called_)[static_cast<size_t>(pc - slot_.begin())] = true;
    must_begin_anew_ = true;
  }
  if (cc_.cursor() != before) cc_.removeNodes(before->next(), cc_.cursor());
  return false;
}

bool LoopEmitter::EmitCopy(const CodeInstruction& copy) {
  if (copy.bytes > kCopyBytesMax) return false;
  CopyPieces(copy.inputs, 0, copy.outputs, 0, copy.bytes);
  return true;
}

void LoopEmitter::CopyPieces(int32_t from, int64_t from_offset, int32_t to, int64_t to_offset,
                             int64_t bytes) {
  const std::vector<LoopCells::Piece> pieces = called_ == nullptr
                                                   ? std::vector<LoopCells::Piece>{{0, bytes}}
                                                   : cells_.PiecesOf(from, from_offset, to, to_offset, bytes);
  for (const LoopCells::Piece& piece : pieces) {
    x86::Gp source, target;
    if (piece.from == nullptr) {
      source = Pointer(from);
      if (from_offset + piece.at != 0) cc_.add(source, from_offset + piece.at);
    }
    if (piece.to == nullptr) {
      target = Pointer(to);
      if (to_offset + piece.at != 0) cc_.add(target, to_offset + piece.at);
    }
    CopyPiece(piece, source, target);
  }
}

// Copies a scalar of which one end or both are cells, else bytes.
void LoopEmitter::CopyPiece(const LoopCells::Piece& piece, const x86::Gp& from, const x86::Gp& to) {
  const Cell *const source = piece.from, *const target = piece.to;
  if (source == nullptr && target == nullptr) return CopyBytes(from, to, piece.bytes);
  if (piece.bytes == 1) {
    if (source == nullptr) cc_.movzx(target->word, x86::byte_ptr(from));
    else if (target == nullptr) cc_.mov(x86::byte_ptr(to), source->word.r8());
    else cc_.mov(target->word, source->word);
  } else if (source != nullptr && target != nullptr) {
    cc_.vmovaps(target->vector, source->vector);
  } else if (piece.bytes == 4) {
    if (source == nullptr) cc_.vmovd(target->vector, x86::dword_ptr(from));
    else cc_.vmovd(x86::dword_ptr(to), source->vector);
  } else {
    if (source == nullptr) cc_.vmovq(target->vector, x86::qword_ptr(from));
    else cc_.vmovq(x86::qword_ptr(to), source->vector);
  }
}

// Copies by whole vectors, then by the largest pieces that fit.
void LoopEmitter::CopyBytes(const x86::Gp& from, const x86::Gp& to, int64_t bytes) {
  const x86::Gp word = cc_.newUInt64();
  const x86::Ymm whole = cc_.newYmm();
  const x86::Xmm half = cc_.newXmm();
  for (int32_t at = 0, left = static_cast<int32_t>(bytes); left > 0;) {
    const int32_t piece = left >= 32   ? 32
                          : left >= 16 ? 16
                          : left >= 8  ? 8
                          : left >= 4  ? 4
                          : left >= 2  ? 2
                                       : 1;
    const x86::Mem source = x86::ptr(from, at, static_cast<uint32_t>(piece));
    const x86::Mem target = x86::ptr(to, at, static_cast<uint32_t>(piece));
    switch (piece) {
      case 32: cc_.vmovdqu(whole, source), cc_.vmovdqu(target, whole); break;
      case 16: cc_.vmovdqu(half, source), cc_.vmovdqu(target, half); break;
      case 8: cc_.mov(word, source), cc_.mov(target, word); break;
      case 4: cc_.mov(word.r32(), source), cc_.mov(target, word.r32()); break;
      case 2: cc_.movzx(word.r32(), source), cc_.mov(target, word.r16()); break;
      default: cc_.movzx(word.r32(), source), cc_.mov(target, word.r8()); break;
    }
    at += piece;
    left -= piece;
  }
}

// Returns the bytes by which the indices move the copies. Jumps to `outside` if one is out of range and not
// to be clamped.
x86::Gp LoopEmitter::Offset(const StepCopies& copies, int32_t inputs, const asmjit::Label& outside) {
  const x86::Gp offset = cc_.newUInt64();
  cc_.xor_(offset, offset);
  for (const StepCopies::Index& index : copies.indices) {
    const x86::Gp value = cc_.newUInt64(), last = cc_.newUInt64();
    const auto position = static_cast<int32_t>(index.position);
    const Cell* const cell = FindCell(inputs + index.input, position, index.wide ? 8 : 4);
    if (cell != nullptr && index.wide) cc_.vmovq(value, cell->vector);
    else if (cell != nullptr) cc_.vmovd(value.r32(), cell->vector), cc_.movsxd(value, value.r32());
    else if (index.wide) cc_.mov(value, x86::qword_ptr(Pointer(inputs + index.input), position));
    else cc_.movsxd(value, x86::dword_ptr(Pointer(inputs + index.input), position));
    cc_.mov(last, index.last);
    if (copies.checked) {
      cc_.cmp(value, last);
      cc_.ja(outside);  // A negative one is large as an unsigned number.
    } else {
      const x86::Gp zero = cc_.newUInt64();
      cc_.xor_(zero, zero);
      cc_.test(value, value);
      cc_.cmovs(value, zero);
      cc_.cmp(value, last);
      cc_.cmovg(value, last);
    }
    const x86::Gp stride = cc_.newUInt64();
    cc_.mov(stride, index.stride);
    cc_.imul(value, stride);
    cc_.add(offset, value);
  }
  return offset;
}

const StepCopies* LoopEmitter::CopiesOf(const CodeInstruction& run) const {
  const StepCopies* const copies = run.step->copies();
  if (copies == nullptr || !copies->updates) return copies;
  const Slot& from = code_.slots[static_cast<size_t>(run.inputs)];
  const Slot& to = code_.slots[static_cast<size_t>(run.outputs)];
  return from.base == to.base && from.offset == to.offset ? copies : nullptr;
}

bool LoopEmitter::EmitCopies(const CodeInstruction& run) {
  const StepCopies* const copies = CopiesOf(run);
  if (copies == nullptr) return false;
  ++steps_;
  if (copies->indices.empty() && !copies->updates) {
    for (const StepCopies::Copy& copy : copies->copies)
      CopyPieces(run.inputs + copy.input, copy.from, run.outputs, copy.to, copy.bytes);
    return true;
  }
  const asmjit::Label outside = cc_.newLabel();
  const x86::Gp offset = Offset(*copies, run.inputs, outside);
  for (const StepCopies::Copy& copy : copies->copies) {
    LoopCells::Piece piece{.at = 0, .bytes = copy.bytes};
    const auto width = static_cast<int>(copy.bytes);
    if (copies->updates) piece.from = FindCell(run.inputs + copy.input, copy.from, width);
    else piece.to = FindCell(run.outputs, copy.to, width);
    x86::Gp from, to;
    if (piece.from == nullptr) {
      from = Pointer(run.inputs + copy.input);
      if (copy.from != 0) cc_.add(from, copy.from);
    }
    if (piece.to == nullptr) {
      to = Pointer(run.outputs);
      if (copy.to != 0) cc_.add(to, copy.to);
    }
    cc_.add(copies->updates ? to : from, offset);
    CopyPiece(piece, from, to);
  }
  cc_.bind(outside);
  return true;
}

// No whole vector is in a register between instructions, so the upper halves may be cleared for the callee.
void LoopEmitter::CallOut(int32_t pc) {
  const x86::Gp position = cc_.newInt32(), status = cc_.newInt32(), function = cc_.newUIntPtr();
  cc_.mov(position, pc);
  cc_.mov(function, x86::ptr(call_, offsetof(LoopCall, run)));
  cc_.vzeroupper();
  asmjit::InvokeNode* invoke = nullptr;
  cc_.invoke(&invoke, function, asmjit::FuncSignatureT<int32_t, void*, int32_t>(asmjit::CallConvId::kHost));
  if (invoke == nullptr) return;
  invoke->setArg(0, call_);
  invoke->setArg(1, position);
  invoke->setRet(0, status);
  cc_.test(status, status);
  cc_.jnz(fails_);
}

void LoopEmitter::JumpBack(int32_t target) {
  cc_.dec(x86::qword_ptr(call_, offsetof(LoopCall, budget)));
  cc_.jg(Target(target));
  cc_.mov(result_, target);
  cc_.jmp(returns_);
}

// Compares a pred with false.
void LoopEmitter::TestPred(int32_t slot) {
  if (const Cell* const cell = FindCell(slot, 0, 1)) cc_.test(cell->word.r8(), cell->word.r8());
  else cc_.cmp(x86::byte_ptr(Pointer(slot)), 0);
}

void LoopEmitter::Switch(int32_t pc) {
  const CodeInstruction& now = code_.instructions[static_cast<size_t>(pc)];
  const auto branch = [&](int32_t b) { return Target(code_.targets[static_cast<size_t>(now.target + b)]); };
  if (now.on_pred) {
    TestPred(now.inputs);
    cc_.jne(branch(0));
    cc_.jmp(branch(1));
    return;
  }
  if (now.count > kBranchesMax) {
    cc_.mov(result_, pc);
    cc_.jmp(returns_);
    return;
  }
  const x86::Gp selector = cc_.newInt32();
  if (const Cell* const cell = FindCell(now.inputs, 0, 4)) cc_.vmovd(selector, cell->vector);
  else cc_.mov(selector, x86::dword_ptr(Pointer(now.inputs)));
  for (int32_t b = 0; b + 1 < now.count; ++b) {
    cc_.cmp(selector, b);
    cc_.je(branch(b));
  }
  cc_.jmp(branch(now.count - 1));
}

void LoopEmitter::EmitInstruction(int32_t pc) {
  const CodeInstruction& now = code_.instructions[static_cast<size_t>(pc)];
  cc_.bind(labels_[static_cast<size_t>(pc - slot_.begin())]);
  switch (now.kind) {
    case CodeInstruction::Kind::kRun:
      if (!EmitStep(pc) && !EmitCopies(now)) CallOut(pc);
      break;
    case CodeInstruction::Kind::kCopy:
      if (!EmitCopy(now)) CallOut(pc);
      break;
    case CodeInstruction::Kind::kTest:
      TestPred(now.inputs);
      cc_.je(Target(now.target));
      break;
    case CodeInstruction::Kind::kJump:
      if (now.target <= pc) JumpBack(now.target);
      else cc_.jmp(Target(now.target));
      break;
    case CodeInstruction::Kind::kSwitch: Switch(pc); break;
    case CodeInstruction::Kind::kReturn:
      cc_.mov(result_, pc);
      cc_.jmp(returns_);
      break;
    case CodeInstruction::Kind::kLoop: break;
  }
}

void LoopEmitter::AddCopies(const StepCopies& copies, const CodeInstruction& run) {
  for (const StepCopies::Index& index : copies.indices)
    cells_.AddScalar(run.inputs + index.input, index.position, index.wide ? 8 : 4, false);
  const bool fixed = copies.indices.empty() && !copies.updates;
  for (const StepCopies::Copy& copy : copies.copies) {
    const int32_t input = run.inputs + copy.input;
    const int width = copy.bytes <= 8 ? static_cast<int>(copy.bytes) : 0;
    if (fixed) {
      cells_.AddCopy(input, copy.from, run.outputs, copy.to, copy.bytes);
      continue;
    }
    // One end moves: it may be anywhere in its array.
    cells_.AddSlot(copies.updates ? run.outputs : input);
    const int32_t other = copies.updates ? input : run.outputs;
    const int64_t offset = copies.updates ? copy.from : copy.to;
    if (width != 0) cells_.AddScalar(other, offset, width, !copies.updates);
    else cells_.AddBytes(other, offset, copy.bytes);
  }
}

void LoopEmitter::AddRun(int32_t pc) {
  const CodeInstruction& run = code_.instructions[static_cast<size_t>(pc)];
  const KernelSlot* const program = LoopProgram(*run.step);
  if (program != nullptr && !IsCalled(pc)) {
    Emitter emitter(cc_, avx512_, *program, /*past_caches=*/false);
    if (emitter.AddAccesses(run.inputs, run.outputs, cells_)) return;
  }
  if (const StepCopies* const copies = CopiesOf(run)) return AddCopies(*copies, run);
  for (int32_t slot = run.inputs; slot < run.slots_end; ++slot) cells_.AddSlot(slot);
  if (run.scratch != kNoSlot) cells_.AddSlot(run.scratch);
}

void LoopEmitter::FindCells() {
  for (int32_t pc = slot_.begin(); pc < slot_.end(); ++pc) {
    const CodeInstruction& now = code_.instructions[static_cast<size_t>(pc)];
    switch (now.kind) {
      case CodeInstruction::Kind::kRun: AddRun(pc); break;
      case CodeInstruction::Kind::kCopy:
        if (now.bytes <= kCopyBytesMax) {
          cells_.AddCopy(now.inputs, 0, now.outputs, 0, now.bytes);
        } else {
          cells_.AddSlot(now.inputs);
          cells_.AddSlot(now.outputs);
        }
        break;
      case CodeInstruction::Kind::kTest: cells_.AddScalar(now.inputs, 0, 1, false); break;
      case CodeInstruction::Kind::kSwitch: cells_.AddScalar(now.inputs, 0, now.on_pred ? 1 : 4, false); break;
      default: break;
    }
  }
  cells_.Choose();
}

bool LoopEmitter::Emit() {
  if (called_ != nullptr) FindCells();
  Prologue();
  for (int32_t pc = slot_.begin(); pc < slot_.end(); ++pc) EmitInstruction(pc);
  if (steps_ == 0 || must_begin_anew_) return false;
  // The last instruction is a jump, so this is only reached by its labels.
  for (const Exit& exit : exits_) {
    cc_.bind(exit.label);
    cc_.mov(result_, exit.pc);
    cc_.jmp(returns_);
  }
  cc_.bind(fails_);
  cc_.mov(result_, -1);
  cc_.bind(returns_);
  if (called_ != nullptr) cells_.Store(cc_, table_);
  cc_.ret(result_);
  cc_.endFunc();
  tables_.Embed();
  return true;
}

}  // namespace hlod::engine::assemble
