// Tile programs: elementwise instructions as a list of calls on tiles, with registers assigned once. Fused
// kernels are such programs, and so are the scalar functions of reducers and comparators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/module.h"
#include "server/engine/tile/ops/ops.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {

// Returns true when an instruction can be part of a tile program: it is elementwise, of types that have
// carriers, and has a function for them.
bool IsTileInstruction(hlo::Instruction instruction);

class TileProgram {
 public:
  struct Value {
    Carrier carrier = Carrier::kF32;
    enum class Place : uint8_t { kRegister, kConstant, kInput, kOutput } place = Place::kRegister;
    int index = -1;      // A register slot, a byte offset in constants_, or the number of the input or
                         // output.
    int width = 0;       // For kInput and kOutput the bytes per element.
    int last_use = -1;   // A position in code_.
    // The value that was rounded or wrapped to this one, and the type to which.
    int unrounded = -1;
    hlo::PrimitiveType narrowed_to = hlo::kInvalid;
    bool whole_run = false;
  };
  struct Instruction {
    enum class Kind : uint8_t { kCall, kReadView, kReadIota, kCopy } kind = Kind::kCall;
    TileFunction function = nullptr;  // For kReadView the widening load, or null.
    TileOp op;                        // The function's name, if it is not null.
    int out = -1, a = -1, b = -1, c = -1;
    int64_t immediate = 0;
    int view = -1, input = -1, width = 0;
  };
  // The way in which machine code reads a value from memory.
  enum class ReadForm : uint8_t {
    kDense,   // In the order of the domain.
    kScalar,  // One element for the whole domain.
    kRun,     // Long runs of neighbours, or of one element.
    kIota,    // Long runs of numbers with a constant difference.
    kStaged,  // Otherwise: the interpreter reads a tile, as the value's carrier.
  };

  // Appends instructions. The caller numbers the inputs. A node is computed once; later uses find it by its
  // id.
  class Builder {
   public:
    // `count` is the number of elements of the domain, to which scalars are broadcast.
    Builder(const hlo::Computation& computation, int64_t count) : computation_(computation), count_(count) {}

    // Declares that the value of `node` comes from memory: it is input number `input` (possibly through a
    // view).
    void AddInput(hlo::NodeId node, int input) { inputs_[node] = input; }
    // Does the same for a scalar parameter that represents element i of a dense array: it is read along with
    // the domain instead of being broadcast.
    void AddElementInput(hlo::NodeId node, int input);
    // Computes an instruction for which IsTileInstruction is true. Its operands must be added nodes, inputs,
    // constants, or views of inputs. Returns false if an operand is none of these, which means that the
    // caller broke the contract or the computation is not of this kind.
    bool Add(hlo::NodeId node);
    // Stores the value of a node (added, or an input or constant) to output number `output`.
    bool AddOutput(hlo::NodeId node, int output);
    // Does the same after everything else is computed, so that the output may share memory with any input.
    // Must be called after the last Add.
    bool AddLateOutput(hlo::NodeId node, int output);
    // Keeps the value of `operand` of a reduce in a register until the end of the tile. Returns a handle for
    // TileProgram::Kept, or -1.
    int Keep(hlo::NodeId node);

    TileProgram Build() &&;

   private:
    friend class TileProgram;
    // Return the value of an instruction of that opcode, given the value of its operand.
    int BitcastValue(hlo::Instruction instruction, int operand);
    int ConvertValue(hlo::Instruction instruction, int source);
    int Operand(hlo::NodeId node);
    // The form in which a node is read from memory: as stored, or widened to its carrier.
    enum class Form { kBits, kCarrier };
    int Memory(hlo::NodeId node, const View& view, Form form);
    int Constant(hlo::Instruction constant, Form form);
    bool HasBits(hlo::NodeId node) const;
    int Bits(hlo::NodeId node);
    bool AddOnBits(hlo::Instruction instruction);
    int Result(hlo::NodeId node, TileFunction* store);
    bool WritesLate(int value, int width) const;
    int ConstantTile(Carrier carrier, double value);
    int Emit(const TileOp& op, int a, int b, int c, int64_t immediate, Carrier carrier);
    int Narrow(int value, hlo::PrimitiveType type);
    int Stored(int value, hlo::PrimitiveType type);
    void DropUnread();
    int NewValue(Carrier carrier);

    const hlo::Computation& computation_;
    const int64_t count_;
    absl::flat_hash_map<hlo::NodeId, int> inputs_, values_;
    // Floats narrower than f32 that are available as stored in memory.
    absl::flat_hash_map<hlo::NodeId, int> bits_;
    std::unique_ptr<TileProgram> program_ = std::make_unique<TileProgram>();
  };

  TileProgram() = default;

  // Returns the bytes of working memory for one worker, aligned to 64.
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // Prepares a worker's memory: fills the registers that hold one value for the whole run. `n` is the number
  // of elements of its largest tile.
  void Begin(const std::byte* const* inputs, std::byte* workspace, int n) const;
  // Computes elements [start, start + n), where n <= kTile.
  void RunTile(const std::byte* const* inputs, std::byte* const* outputs, std::byte* workspace, int64_t start,
               int n) const;
  // Returns the location of a kept value's tile after RunTile.
  const void* Kept(int handle, const std::byte* const* inputs, std::byte* const* outputs,
                   std::byte* workspace, int64_t start) const;
  Carrier KeptCarrier(int handle) const { return values_[handle].carrier; }

  // Returns true when output `o` may lie in the memory of input `i`.
  bool MayShare(int output, int input) const;
  // Returns true when the input is read only in the order of the domain.
  bool ReadsInOrder(int input) const;
  int instruction_count() const { return static_cast<int>(code_.size()); }

  // The program's parts, for the assembler. Positions and indices refer to each other.
  const std::vector<Value>& values() const { return values_; }
  const std::vector<Instruction>& prologue() const { return prologue_; }  // Runs once, before the first tile.
  const std::vector<Instruction>& code() const { return code_; }
  const std::vector<View>& views() const { return views_; }
  const std::byte* ConstantOf(const Value& value) const { return constants_[0].bytes + value.index; }
  ReadForm ReadFormOf(const Instruction& read) const;
  // Reads in no runs that end within a row of `row` elements, except after whole tiles: then machine code
  // combines each row's elements in the interpreter's order.
  void KeepRunsWhole(int64_t row) { row_ = row; }
  // Lets machine code compute several rows of `row` elements at a time: runs of whole rows may be short.
  void ComputeRows(int64_t row) { kernel_row_ = row <= INT32_MAX ? static_cast<int32_t>(row) : 0; }
  int64_t kernel_row() const { return kernel_row_; }
  // Returns the length of rows by which machine code can advance if it reads all views in runs; 0 if there
  // are none, or they have nothing in common.
  int64_t CommonRun() const;
  // Returns the number of reads of form kStaged.
  int StagedReads() const;
  // Returns the number of elements after which what a read reads begins anew; 0 if that is never, or more
  // than kPeriodMax.
  int64_t PeriodOf(const Instruction& read) const;
  static constexpr int64_t kPeriodMax = 64;
  // Does such a read of elements [start, start + n), where n <= kTile, into `out`. `temporary` has kTile * 8
  // bytes.
  void Stage(const Instruction& read, const std::byte* const* inputs, int64_t start, int n, std::byte* out,
             std::byte* temporary) const;
  // The bytes of a tile of any of the program's values.
  int64_t slot_bytes() const { return slot_bytes_; }

 private:
  // The use of an input or output; positions are in code_.
  struct InputUse {
    int width = 0;  // The bytes per element; 0 when it is never read.
    int last_read = -1;
    bool viewed = false;  // True when it is not read in the order of the domain.
  };
  struct OutputUse {
    int width = 0;
    int written = -1;  // -1 if it is written only after everything is read.
  };
  InputUse& Input(int number) { return Grown(inputs_, number); }
  OutputUse& Output(int number) { return Grown(outputs_, number); }
  template <typename Use>
  static Use& Grown(std::vector<Use>& uses, int number) {
    if (static_cast<size_t>(number) >= uses.size()) uses.resize(number + 1);
    return uses[number];
  }

  void* Pointer(int value, const std::byte* const* inputs, std::byte* const* outputs, std::byte* workspace,
                int64_t start) const;
  void Execute(const Instruction& instruction, const std::byte* const* inputs, std::byte* const* outputs,
               std::byte* workspace, int64_t start, int n) const;
  void Read(const Instruction& instruction, const std::byte* const* inputs, int64_t start, int n,
            std::byte* out, std::byte* temporary) const;
  void AssignRegisters();

  std::vector<Value> values_;
  std::vector<Instruction> prologue_, code_;
  std::vector<View> views_;
  struct AlignedBytes {
    alignas(64) std::byte bytes[64];
  };
  std::vector<AlignedBytes> constants_;
  int64_t slot_bytes_ = 0, workspace_bytes_ = 0;
  std::vector<InputUse> inputs_;    // Indexed by the number of the input.
  std::vector<OutputUse> outputs_;  // Indexed by the number of the output.
  std::vector<int> kept_;
  int64_t row_ = 1;  // Runs are multiples of it, or of tiles within it.
  bool has_unread_ = false;  // While building: true if there may be instructions whose value is never read.
  int32_t kernel_row_ = 0;   // 0 if rows are not computed together.
};

}  // namespace hlod::engine
