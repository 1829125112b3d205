// The values of a loop stay in the memory that the plan assigned to them, so that the interpreter can go on
// at any jump back: a small loop costs the loads and stores, and not the dispatch of its steps.
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
  fails_ = cc_.newLabel();
  returns_ = cc_.newLabel();
  for (int32_t pc = slot_.begin(); pc < slot_.end(); ++pc) labels_.push_back(cc_.newLabel());
  for (int32_t pc = slot_.begin() + 1; pc < slot_.end(); ++pc) {
    if (code_.instructions[static_cast<size_t>(pc)].kind != CodeInstruction::Kind::kLoop) continue;
    cc_.cmp(x86::dword_ptr(call_, offsetof(LoopCall, pc)), pc);
    cc_.je(Target(pc));
  }
}

bool LoopEmitter::EmitStep(const CodeInstruction& run) {
  const KernelSlot* const program = LoopProgram(*run.step);
  if (program == nullptr) return false;
  asmjit::BaseNode* const before = cc_.cursor();
  Emitter emitter(cc_, avx512_, *program, /*past_caches=*/false);
  if (emitter.EmitInline(table_, run.inputs, run.outputs)) {
    ++steps_;
    return true;
  }
  if (cc_.cursor() != before) cc_.removeNodes(before->next(), cc_.cursor());
  return false;
}

bool LoopEmitter::EmitCopy(const CodeInstruction& copy) {
  if (copy.bytes > kCopyBytesMax) return false;
  CopyBytes(Pointer(copy.inputs), Pointer(copy.outputs), copy.bytes);
  return true;
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
    const x86::Gp pointer = Pointer(inputs + index.input);
    if (index.wide) cc_.mov(value, x86::qword_ptr(pointer, position));
    else cc_.movsxd(value, x86::dword_ptr(pointer, position));
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

bool LoopEmitter::EmitCopies(const CodeInstruction& run) {
  const StepCopies* const copies = run.step->copies();
  if (copies == nullptr) return false;
  const auto slot = [this](int32_t position) { return code_.slots[static_cast<size_t>(position)]; };
  if (copies->updates) {
    const Slot from = slot(run.inputs), to = slot(run.outputs);
    if (from.base != to.base || from.offset != to.offset) return false;
  }
  const asmjit::Label outside = cc_.newLabel();
  const x86::Gp offset = Offset(*copies, run.inputs, outside);
  for (const StepCopies::Copy& copy : copies->copies) {
    const x86::Gp from = Pointer(run.inputs + copy.input), to = Pointer(run.outputs);
    if (copy.from != 0) cc_.add(from, copy.from);
    if (copy.to != 0) cc_.add(to, copy.to);
    cc_.add(copies->updates ? to : from, offset);
    CopyBytes(from, to, copy.bytes);
  }
  cc_.bind(outside);
  ++steps_;
  return true;
}

// No value is in a vector register between instructions, so the upper halves may be cleared for the callee.
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

void LoopEmitter::Switch(int32_t pc) {
  const CodeInstruction& now = code_.instructions[static_cast<size_t>(pc)];
  const x86::Gp selector = Pointer(now.inputs);
  const auto branch = [&](int32_t b) { return Target(code_.targets[static_cast<size_t>(now.target + b)]); };
  if (now.on_pred) {
    cc_.cmp(x86::byte_ptr(selector), 0);
    cc_.jne(branch(0));
    cc_.jmp(branch(1));
    return;
  }
  if (now.count > kBranchesMax) {
    cc_.mov(result_, pc);
    cc_.jmp(returns_);
    return;
  }
  for (int32_t b = 0; b + 1 < now.count; ++b) {
    cc_.cmp(x86::dword_ptr(selector), b);
    cc_.je(branch(b));
  }
  cc_.jmp(branch(now.count - 1));
}

void LoopEmitter::EmitInstruction(int32_t pc) {
  const CodeInstruction& now = code_.instructions[static_cast<size_t>(pc)];
  cc_.bind(labels_[static_cast<size_t>(pc - slot_.begin())]);
  switch (now.kind) {
    case CodeInstruction::Kind::kRun:
      if (!EmitStep(now) && !EmitCopies(now)) CallOut(pc);
      break;
    case CodeInstruction::Kind::kCopy:
      if (!EmitCopy(now)) CallOut(pc);
      break;
    case CodeInstruction::Kind::kTest:
      cc_.cmp(x86::byte_ptr(Pointer(now.inputs)), 0);
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

bool LoopEmitter::Emit() {
  Prologue();
  for (int32_t pc = slot_.begin(); pc < slot_.end(); ++pc) EmitInstruction(pc);
  if (steps_ == 0) return false;
  // The last instruction is a jump, so this is only reached by its labels.
  for (const Exit& exit : exits_) {
    cc_.bind(exit.label);
    cc_.mov(result_, exit.pc);
    cc_.jmp(returns_);
  }
  cc_.bind(fails_);
  cc_.mov(result_, -1);
  cc_.bind(returns_);
  cc_.ret(result_);
  cc_.endFunc();
  return true;
}

}  // namespace hlod::engine::assemble
