// Emits whole loops of a plan's code.
#pragma once

#include <asmjit/x86.h>

#include <vector>

#include "server/engine/assemble/loop_cells.h"
#include "server/engine/assemble/view_tables.h"
#include "server/engine/run/code.h"

namespace hlod::engine::assemble {

// Emits LoopSlot::Function: the dispatch of a loop as jumps, with the programs of its small fused steps and
// the copies of its small movements in between. The other steps are called.
class LoopEmitter {
 public:
  // By position from the beginning of the loop on, the instructions that are called, whatever they are.
  using Called = std::vector<bool>;

  // Scalars are in registers if `called` is not null.
  LoopEmitter(x86::Compiler& cc, bool avx512, const Code& code, const LoopSlot& slot, Called* called)
      : cc_(cc),
        avx512_(avx512),
        code_(code),
        slot_(slot),
        called_(called),
        cells_(code),
        tables_(cc, avx512 ? 16 : 8) {}

  // Returns false if the loop has no step that could be faster than when it is interpreted, or if `called`
  // has become longer, which is a reason to begin anew.
  bool Emit();
  bool must_begin_anew() const { return must_begin_anew_; }

 private:
  // A label that returns to the interpreter at `pc`.
  struct Exit {
    asmjit::Label label;
    int32_t pc = 0;
  };

  void Prologue();
  void EmitInstruction(int32_t pc);
  bool EmitStep(int32_t pc);
  bool EmitCopy(const CodeInstruction& copy);
  bool EmitCopies(const CodeInstruction& run);
  // Returns the copies that the step is, or null if it is called.
  const StepCopies* CopiesOf(const CodeInstruction& run) const;
  // Adds the accesses to memory of the whole loop.
  void FindCells();
  void AddRun(int32_t pc);
  void AddCopies(const StepCopies& copies, const CodeInstruction& run);
  bool IsCalled(int32_t pc) const { return (*called_)[static_cast<size_t>(pc - slot_.begin())]; }
  const Cell* FindCell(int32_t slot, int64_t offset, int width) const {
    return called_ == nullptr ? nullptr : cells_.Find(slot, offset, width);
  }
  // Copies between places of which some are cells.
  void CopyPieces(int32_t from, int64_t from_offset, int32_t to, int64_t to_offset, int64_t bytes);
  void CopyPiece(const LoopCells::Piece& piece, const x86::Gp& from, const x86::Gp& to);
  void CopyBytes(const x86::Gp& from, const x86::Gp& to, int64_t bytes);
  void TestPred(int32_t slot);
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
  Called* const called_;
  LoopCells cells_;
  ViewTables tables_;
  bool must_begin_anew_ = false;
  std::vector<asmjit::Label> labels_;  // By position, from the beginning of the loop on.
  std::vector<Exit> exits_;
  int steps_ = 0;  // The steps that are part of the code.
  x86::Gp table_, call_, result_;
  asmjit::Label fails_, returns_;
};

}  // namespace hlod::engine::assemble
