// Where the arrays of a module lie: every leaf of every value in a buffer, what is fused away in the buffers
// that it is computed from. Memory (peak.h) and traffic (traffic.h) are two sums over this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

struct PlacementOptions {
  // Elementwise chains, broadcasts and their like are computed where they are used.
  bool fused = true;
  // What an array takes in the device's memory; null: its dense payload (hlo::ByteSize).
  std::function<int64_t(const hlo::Shape&)> bytes;

  // In how many parts a leaf of what an instruction makes is divided; null: in one.
  std::function<int64_t(hlo::Instruction, size_t leaf)> parts;

  int64_t PartsOf(hlo::Instruction i, size_t leaf) const { return parts ? parts(i, leaf) : 1; }
  int64_t BytesOf(const hlo::Shape& shape) const {
    return bytes ? bytes(shape) : hlo::ByteSize(shape).value_or(0);
  }
};

using BufferId = int32_t;

struct Buffer {
  hlo::NodeId made = 0;  // By this instruction.
  int64_t bytes = 0;     // Aligned; 0: the caller's memory, or the program's.
  const hlo::Shape* shape = nullptr;
};

// A buffer, and how many bytes of it are read.
struct Source {
  BufferId buffer = 0;
  int64_t read = 0;
};
// The buffer of an array; of a fused one those that it is computed from.
using Sources = absl::InlinedVector<Source, 2>;
// A value's leaves.
using Value = std::vector<Sources>;

class Placements;

// Of one computation.
class Placement {
 public:
  // `all` has the placements of what the computation calls.
  Placement(const Placements& all, const hlo::Computation& computation);

  const hlo::Computation& computation() const { return *computation_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const Value& value(hlo::NodeId node) const { return values_[node]; }
  // Whether the instruction runs as a step: it is neither an alias, nor fused away, nor given from outside.
  bool runs(hlo::NodeId node) const { return runs_[node]; }
  // What an instruction reads, each buffer once.
  Sources ReadBy(hlo::Instruction i) const;

 private:
  Value Place(hlo::Instruction i);
  Value Element(hlo::Instruction get) const;
  Value Allocate(hlo::Instruction i);
  bool Stays(hlo::Instruction i, size_t leaf) const;

  const Placements* all_;
  const hlo::Computation* computation_;
  const PlacementOptions* options_;
  std::vector<bool> fused_, runs_;  // By instruction.
  std::vector<Buffer> buffers_;
  std::vector<Value> values_;  // By instruction.
};

// Of all computations that the entry runs. The module outlives it.
class Placements {
 public:
  // Of a module that Canonical gave.
  Placements(const hlo::Module& canonical, PlacementOptions options);
  Placements(const Placements&) = delete;  // Each placement refers to the options.
  Placements& operator=(const Placements&) = delete;

  const hlo::Module& module() const { return module_; }
  const PlacementOptions& options() const { return options_; }
  const std::vector<hlo::ComputationId>& callees_first() const { return order_; }
  const Placement& of(hlo::ComputationId id) const { return *by_id_[id]; }
  // Whether no iteration of the loop changes this leaf of its state.
  bool KeepsLeaf(hlo::ComputationId body, size_t leaf) const;

 private:
  const hlo::Module& module_;
  const PlacementOptions options_;
  const std::vector<hlo::ComputationId> order_;
  std::vector<std::optional<Placement>> by_id_;
};

// A verified module as a compiler begins with it: calls inlined, equal values merged, dead ones removed. The
// error of a pass that finds it too large.
absl::StatusOr<std::unique_ptr<hlo::Module>> Canonical(const hlo::Module& module);

// Whether the result is the operand itself, seen otherwise: no buffer of its own.
bool IsAlias(hlo::Opcode opcode);

// A tuple in memory is a table of pointers to its elements: the bytes of the tables of a shape.
int64_t TableBytes(const hlo::Shape& shape);

}  // namespace hlod::analysis
