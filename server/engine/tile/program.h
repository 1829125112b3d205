// Tile programs: elementwise instructions as a list of calls on tiles, with registers assigned once. The
// fused kernels and the scalar functions of reducers and comparators are both such programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/module.h"
#include "server/engine/tile/ops.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {

// Whether an instruction can be one of a tile program: elementwise, of types that have carriers, with a
// function for them.
bool IsTileInstruction(hlo::Instruction instruction);

class TileProgram {
 public:
  // Appends. Inputs are numbered by the caller; a node is computed once and then found again by its id.
  class Builder {
   public:
    // `count`: elements of the domain; scalars are spread over them.
    Builder(const hlo::Computation& computation, int64_t count) : computation_(computation), count_(count) {}

    // Says that the value of `node` comes from memory, as input number `input` (possibly under a view).
    void AddInput(hlo::NodeId node, int input) { inputs_[node] = input; }
    // The same for a scalar parameter that stands for element i of a dense array: not spread, but read along
    // with the domain.
    void AddElementInput(hlo::NodeId node, int input);
    // Computes an instruction that IsTileInstruction. Operands: added nodes, inputs, constants, and views of
    // inputs. False when an operand has none of these: the caller broke the contract or the computation is
    // not of this kind.
    bool Add(hlo::NodeId node);
    // Stores the value of a node (added, or an input or constant) to output number `output`.
    bool AddOutput(hlo::NodeId node, int output);
    // The same, but written after everything else is computed: the output may lie in any input's memory. Call
    // after the last Add.
    bool AddLateOutput(hlo::NodeId node, int output);
    // Keeps the value of `operand` of a reduce in a register until the end of the tile; returns a handle for
    // TileProgram::Kept, or -1.
    int Keep(hlo::NodeId node);

    TileProgram Build() &&;

   private:
    friend class TileProgram;
    int Operand(hlo::NodeId node);
    // What of memory a node is, as it lies there or widened to its carrier.
    enum class Form { kBits, kCarrier };
    int Memory(hlo::NodeId node, const View& view, Form form);
    int Constant(hlo::Instruction constant, Form form);
    bool HasBits(hlo::NodeId node) const;
    int Bits(hlo::NodeId node);
    bool AddOnBits(hlo::Instruction instruction);
    int Result(hlo::NodeId node, TileFunction* store);
    bool WritesLate(int value, int width) const;
    int ConstantTile(Carrier carrier, double value);
    int Emit(TileFunction function, int a, int b, int c, int64_t immediate, Carrier carrier);
    int Narrow(int value, hlo::PrimitiveType type);
    int Stored(int value);
    void DropUnread();
    int NewValue(Carrier carrier);

    const hlo::Computation& computation_;
    const int64_t count_;
    absl::flat_hash_map<hlo::NodeId, int> inputs_, values_;
    absl::flat_hash_map<hlo::NodeId, int> bits_;  // Floats below f32 that are known as memory has them.
    std::unique_ptr<TileProgram> program_ = std::make_unique<TileProgram>();
  };

  TileProgram() = default;

  // Bytes of working memory for one worker, aligned to 64.
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // Prepares a worker's memory: registers that hold one value for the whole run are filled. n: elements of
  // its largest tile.
  void Begin(const std::byte* const* inputs, std::byte* workspace, int n) const;
  // Computes elements [start, start + n), n <= kTile.
  void RunTile(const std::byte* const* inputs, std::byte* const* outputs, std::byte* workspace, int64_t start,
               int n) const;
  // Where a kept value's tile lies after RunTile.
  const void* Kept(int handle, const std::byte* const* inputs, std::byte* const* outputs,
                   std::byte* workspace, int64_t start) const;
  Carrier KeptCarrier(int handle) const { return values_[handle].carrier; }

  // Whether output `o` may lie in the memory of input `i`.
  bool MayShare(int output, int input) const;
  int instruction_count() const { return static_cast<int>(code_.size()); }

 private:
  struct Value {
    Carrier carrier = Carrier::kF32;
    enum class Place : uint8_t { kRegister, kConstant, kInput, kOutput } place = Place::kRegister;
    int index = -1;      // Register slot, byte offset in constants_, or number of the input or output.
    int width = 0;       // Bytes an element: of kInput and kOutput.
    int last_use = -1;   // Position in code_.
    int unrounded = -1;  // The value that this one is rounded or wrapped from.
    bool whole_run = false;
  };
  struct Instruction {
    enum class Kind : uint8_t { kCall, kReadView, kReadIota, kCopy } kind = Kind::kCall;
    TileFunction function = nullptr;  // kReadView: the widening load, or null.
    int out = -1, a = -1, b = -1, c = -1;
    int64_t immediate = 0;
    int view = -1, input = -1, width = 0;
  };

  // How an input is read, and where an output is written; positions are in code_.
  struct InputUse {
    int width = 0;  // Bytes an element; 0: never read.
    int last_read = -1;
    bool viewed = false;  // Not in the order of the domain.
  };
  struct OutputUse {
    int width = 0;
    int written = -1;  // -1: not before everything is read.
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
  void AssignRegisters();

  std::vector<Value> values_;
  std::vector<Instruction> prologue_, code_;
  std::vector<View> views_;
  struct AlignedBytes {
    alignas(64) std::byte bytes[64];
  };
  std::vector<AlignedBytes> constants_;
  int64_t slot_bytes_ = 0, workspace_bytes_ = 0;
  std::vector<InputUse> inputs_;    // By number of the input.
  std::vector<OutputUse> outputs_;  // By number of the output.
  std::vector<int> kept_;
  bool has_unread_ = false;  // While building: there may be instructions whose value nothing reads.
};

}  // namespace hlod::engine
