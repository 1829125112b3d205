// Emits whole loops of a plan's code.
#pragma once

#include <asmjit/x86.h>

#include <vector>

#include "server/engine/assemble/lanes.h"
#include "server/engine/run/code.h"

namespace hlod::engine::assemble {

// Emits LoopSlot::Function: the dispatch of a loop as jumps, with the programs of its small fused steps and
// the copies of its small movements in between. The other steps are called.
class LoopEmitter {
 public:
  LoopEmitter(x86::Compiler& cc, bool avx512, const Code& code, const LoopSlot& slot)
      : cc_(cc), avx512_(avx512), code_(code), slot_(slot) {}

  // Returns false if the loop has no step that could be faster than when it is interpreted.
  bool Emit();

 private:
  // A label that returns to the interpreter at `pc`.
  struct Exit {
    asmjit::Label label;
    int32_t pc = 0;
  };

  void Prologue();
  void EmitInstruction(int32_t pc);
  bool EmitStep(const CodeInstruction& run);
  bool EmitCopy(const CodeInstruction& copy);
  bool EmitCopies(const CodeInstruction& run);
  void CopyBytes(const x86::Gp& from, const x86::Gp& to, int64_t bytes);
  x86::Gp Offset(const StepCopies& copies, int32_t inputs, const asmjit::Label& outside);
  void CallOut(int32_t pc);
  void JumpBack(int32_t target);
  void Switch(int32_t pc);
  x86::Gp Pointer(int32_t slot);
  asmjit::Label Target(int32_t pc);
  bool Inside(int32_t pc) const { return pc >= slot_.begin() && pc < slot_.end(); }

  x86::Compiler& cc_;
  const bool avx512_;
  const Code& code_;
  const LoopSlot& slot_;
  std::vector<asmjit::Label> labels_;  // By position, from the beginning of the loop on.
  std::vector<Exit> exits_;
  int steps_ = 0;  // The steps that are part of the code.
  x86::Gp table_, call_, result_;
  asmjit::Label fails_, returns_;
};

}  // namespace hlod::engine::assemble
