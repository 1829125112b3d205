// The buffers of a module's arrays: every leaf of every value has one, and a value that is fused away refers
// to the buffers that it is computed from. Memory (peak.h) and traffic (traffic.h) are computed from these.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "client/analysis/module/memory/kernel_graph.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// The compilers whose plans are estimated.
enum class Compiler {
  kXlaCpu,       // XLA's CPU backend: what `memory_analysis()` says on this machine.
  kAccelerator,  // A compiler for one accelerator, that orders instructions for little memory.
};

struct PlacementOptions {
  Compiler compiler = Compiler::kXlaCpu;
  // True when elementwise chains, broadcasts and similar instructions are computed where they are used
  // (fusion_model.h).
  bool fused = true;
  // Returns the bytes that an array takes in the device's memory; null: the dense size (hlo::ByteSize).
  std::function<int64_t(const hlo::Shape&)> bytes;

  // Returns the number of parts into which a leaf of an instruction's result is divided; null: 1.
  std::function<int64_t(hlo::Instruction, size_t leaf)> parts;

  int64_t PartsOf(hlo::Instruction i, size_t leaf) const { return parts ? parts(i, leaf) : 1; }
  int64_t BytesOf(const hlo::Shape& shape) const {
    return bytes ? bytes(shape) : hlo::ByteSize(shape).value_or(0);
  }
};

using BufferId = int32_t;

struct Buffer {
  hlo::NodeId made = 0;  // The instruction that makes it.
  // Aligned; 0 if the memory belongs to the caller (parameters) or to the program (constants).
  int64_t bytes = 0;
  const hlo::Shape* shape = nullptr;
};

// A buffer, and the number of its bytes that are read.
struct Source {
  BufferId buffer = 0;
  int64_t read = 0;
  // True when each element of the array is computed from the buffer's element at the same place only.
  bool aligned = true;
};
// The buffer of an array, or the buffers from which a fused array is computed.
using Sources = absl::InlinedVector<Source, 2>;
// The sources of each leaf of a value.
using Value = std::vector<Sources>;

class Placements;

// The buffers of one computation.
class Placement {
 public:
  // `all` has the placements of the computations that this one calls.
  Placement(const Placements& all, const hlo::Computation& computation);

  const hlo::Computation& computation() const { return *computation_; }
  Compiler compiler() const { return options_->compiler; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const Value& value(hlo::NodeId node) const { return values_[node]; }
  // Returns true when the instruction runs as a step: it is not an alias, a tuple or its element, a parameter
  // or a constant, and is not fused away.
  bool runs(hlo::NodeId node) const { return runs_[node]; }
  // Returns true when the instruction is computed inside its users.
  bool fused_away(hlo::NodeId node) const { return fused_[node]; }
  // Returns the kernels in which XLA's CPU backend runs the computation; null for others, and without fusion.
  const KernelGraph* kernels() const { return kernels_ ? &*kernels_ : nullptr; }
  // Returns the bytes of the buffers that an instruction makes.
  int64_t BytesMadeBy(hlo::NodeId node) const { return bytes_made_[node]; }
  // Returns the buffers that an instruction reads, each once.
  Sources ReadBy(hlo::Instruction i) const;

 private:
  Value Place(hlo::Instruction i);
  Value Element(hlo::Instruction get) const;
  Value Allocate(hlo::Instruction i);
  bool Stays(hlo::Instruction i, size_t leaf) const;
  bool IsStored(hlo::Instruction alias) const;
  Sources ReadByKernel(hlo::Instruction i) const;

  const Placements* all_;
  const hlo::Computation* computation_;
  const PlacementOptions* options_;
  std::optional<KernelGraph> kernels_;
  std::vector<bool> fused_, runs_;   // Flags by instruction.
  std::vector<int64_t> bytes_made_;  // By instruction.
  std::vector<Buffer> buffers_;
  std::vector<Value> values_;  // The values by instruction.
};

// The placements of all computations that the entry runs. The module outlives this object.
class Placements {
 public:
  // `canonical` is a module that Canonical returned.
  Placements(const hlo::Module& canonical, PlacementOptions options);
  Placements(const Placements&) = delete;  // Each placement refers to the options.
  Placements& operator=(const Placements&) = delete;

  const hlo::Module& module() const { return module_; }
  const PlacementOptions& options() const { return options_; }
  const std::vector<hlo::ComputationId>& callees_first() const { return order_; }
  const Placement& of(hlo::ComputationId id) const { return *by_id_[id]; }
  // Returns true when no iteration of the loop changes this leaf of its state.
  bool KeepsLeaf(hlo::ComputationId body, size_t leaf) const;

 private:
  const hlo::Module& module_;
  const PlacementOptions options_;
  const std::vector<hlo::ComputationId> order_;
  std::vector<std::optional<Placement>> by_id_;
};

// Returns a verified module in the form in which a compiler begins with it: calls are inlined, equal values
// merged, dead ones removed, operands of dots transposed (dot_operands.h), and what the compiler has no
// kernel for rewritten (memory/cpu_forms.h). Returns the error of a pass that finds it too large.
absl::StatusOr<std::unique_ptr<hlo::Module>> Canonical(const hlo::Module& module, Compiler compiler);

// Returns true when the result consists of the operand's own bytes, in another form, without a separate
// buffer.
bool IsAlias(hlo::Opcode opcode);

// Returns the bytes of a shape's tables: a tuple in memory is a table of pointers to its elements.
int64_t TableBytes(const hlo::Shape& shape);

}  // namespace hlod::analysis
