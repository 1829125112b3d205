// Emits the code of a tile program.
#pragma once

#include <memory>
#include <vector>

#include "server/engine/assemble/folds.h"
#include "server/engine/assemble/loop_cells.h"
#include "server/engine/assemble/operations.h"
#include "server/engine/assemble/view_tables.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine::assemble {

// The operands of a program that is part of a loop: pointers in consecutive places of `table`, and scalars in
// cells.
struct InlineOperands {
  x86::Gp table;
  int32_t inputs = 0, outputs = 0;
  const LoopCells* cells = nullptr;
  // Null if views that have no long runs cannot be read.
  ViewTables* tables = nullptr;
};

// Emits a function over rows of the domain (TileKernel::Function): for each a loop over whole vectors, then
// one vector for the rest. If sums are folded, there is such a pair of loops for each tile.
class Emitter {
 public:
  // With `past_caches`, outputs of 32-bit elements are stored past the caches; runs must then start at
  // multiples of 16 elements.
  Emitter(x86::Compiler& cc, bool avx512, const KernelSlot& slot, bool past_caches)
      : cc_(cc), l_(cc, avx512), slot_(slot), program_(slot.program()), past_caches_(past_caches) {}

  // Returns false if the program has an operation without a translation, or too many operands.
  bool Emit();
  // Emits the program of a map over its whole domain as part of a function. Returns false, perhaps after some
  // instructions, if this is not possible.
  bool EmitInline(const InlineOperands& operands);
  // Adds the program's accesses to memory, if it is emitted so. Returns false if this is not possible.
  bool AddAccesses(int32_t inputs, int32_t outputs, LoopCells& cells);
  const std::vector<TileKernel::Operand>& operands() const { return operands_; }
  // The distance of rows (TileKernel::row).
  int64_t row() const { return row_; }

 private:
  using Instruction = TileProgram::Instruction;
  using Value = TileProgram::Value;
  using Place = Value::Place;
  using ReadForm = TileProgram::ReadForm;
  using OperandKind = TileKernel::Operand::Kind;
  // An iota's next numbers, and what the loop adds to them.
  struct Counter {
    size_t operand = 0;
    Num first, numbers, step;
  };

  // A table of the places of a view's elements, and those of the current vector.
  struct Gather {
    const ViewTable* table = nullptr;
    x86::Gp places_at, starts_at, start;
    Num places;
    bool is_known = false;
  };

  // Stands for an instruction that reads no memory, or a value without an operand.
  static constexpr size_t kNoOperand = ~size_t{0};
  static bool IsRead(const Instruction& instruction);
  // Returns true if each row is computed from one element of the operand only.
  bool IsSame(const TileKernel::Operand& operand) const;
  // Returns false if there are too many, or more than `runs_max` that are read in runs.
  bool FindOperands(size_t runs_max);
  void AddRead(const Instruction& read);
  bool FindStep(TileKernel::Operand& operand) const;
  void FindRows();
  bool Prologue();
  bool InlinePrologue();
  // Returns true if every operand is a run in each row, and its rows are at the same distance.
  bool HasRuns(int64_t row) const;
  // Read views by tables.
  bool CanGather(const TileKernel::Operand& operand) const;
  bool FindGathers();
  void BeginGathers();
  void ReadPlaces(Gather& gather);
  Num ReadWindow(const Gather& gather, const x86::Gp& from);
  Num ReadFromPlaces(const Gather& gather, const x86::Gp& from, int width, bool high);
  void ReadGathered(const Instruction& read, size_t operand, Lane* out);
  // The few elements of a program are computed one by one, from and to fixed places, which may be cells.
  bool ByElements() const;
  bool EmitElements();
  int32_t InlineSlot(const TileKernel::Operand& operand) const;
  // Returns the distance of an element in bytes, for an iota its number.
  int64_t ElementOffset(const TileKernel::Operand& operand, int64_t element) const;
  bool ReadNumber(const Instruction& iota, size_t operand, Lane* out);
  bool ReadScalars();
  bool BeginRow();
  void EndRow();
  // Emits one row, and the folds of its elements.
  bool Row();
  bool Rows();
  void Count(size_t operand);
  void Copy(const Num& from, const Num& to);
  bool Body(const Extent& extent);
  // Fetches inputs of a later vector into the first-level cache; `vector` is the number of the vector in its
  // unit.
  void FetchAhead(int vector);
  // Goes on to the next vector.
  void Advance();
  bool EmitWhole();
  bool EmitTiles();
  bool EmitTileLoop(const x86::Gp& whole_end);
  // Combine the kept values of a vector, which has number `vector` in its unit.
  bool Fold(const Extent& extent, size_t vector);
  bool FoldColumns(const Extent& extent);
  bool Step(const Instruction& instruction, size_t position, const Extent& extent);
  bool Read(const Instruction& read, size_t operand, const Extent& extent, Lane* out);
  // Returns a value for the current vector, which is loaded if it is an input or a constant.
  const Lane& ValueOf(int value, const Extent& extent);
  Lane Constant(const Value& value);
  bool Broadcast(const Instruction& read, const x86::Gp& from, const Cell* cell, Lane* out);
  Lane LoadCarrier(Memory memory, Carrier carrier);
  void StoreCarrier(Memory memory, Carrier carrier, const Lane& lane, bool whole);
  // Calls the interpreter's function of an instruction for the vector, by way of the stack.
  bool CallFunction(const Instruction& instruction, const Extent& extent, Lane* out);
  bool PaysCalls() const;
  // Emits a sine or cosine of f32, and a call for vectors with large angles.
  bool Sine(const Instruction& instruction, const Call& call, const Extent& extent, Lane* out);
  bool StoreAs(Memory memory, hlo::PrimitiveType type, const Lane& lane);
  Memory At(size_t operand, const Extent& extent);
  Extent Rest(const x86::Gp& end);

  x86::Compiler& cc_;
  Lanes l_;
  const KernelSlot& slot_;
  const TileProgram& program_;
  const bool past_caches_;
  std::vector<TileKernel::Operand> operands_;
  // The operand of each read, by its position: those of the prologue, then those of the code.
  std::vector<size_t> operand_of_read_;
  // The operand of each value that is an input or an output in the order of the domain.
  std::vector<size_t> operand_of_value_;
  int64_t row_ = 0;
  size_t accumulators_ = 0;  // The first operand that is an accumulator.
  std::vector<x86::Gp> pointers_;
  std::vector<Lane> fixed_;  // By position, the reads that are the same for every vector.
  std::vector<Counter> counters_;
  std::vector<Gather> gathers_;
  std::vector<size_t> gather_of_;                // By operand; empty if there are none.
  std::vector<std::unique_ptr<Folding>> folds_;  // For rows.
  x86::Mem stack_;                               // The operands and the result of a call, if there is one.
  bool has_stack_ = false;
  InlineOperands inline_;
  bool by_elements_ = false;
  int64_t element_ = 0;  // The element that is computed, if they are computed one by one.
  // An element of an output, which is stored after all elements are computed: it may lie in the memory of an
  // input.
  struct Late {
    size_t operand = 0;
    int64_t element = 0;
    Carrier carrier = Carrier::kF32;
    Lane lane;
  };
  std::vector<Late> late_;
  int call_costs_ = 0;       // The costs of calls in the body that was emitted last, in cheap instructions.
  std::vector<Lane> lanes_;  // By value, for the current vector.
  std::vector<bool> known_;  // By value, true if `lanes_` has it.
  x86::Gp index_, count_, rows_;
};

}  // namespace hlod::engine::assemble
