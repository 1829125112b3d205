// Reductions of a row to one accumulator.
#pragma once

#include <memory>

#include "server/engine/assemble/memory.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine::assemble {

// Emits the instructions of one fold. Begin is called once, then for each vector Whole or Part, and End.
class Folding {
 public:
  // The number of elements that are combined side by side. Whole vectors come in units of this many elements.
  static constexpr int kUnit = 16;
  // The number of elements of which a sum of f32 adds those of each lane in f32.
  static constexpr int kBlock = 16 * kUnit;

  virtual ~Folding() = default;
  // Returns true if the result depends on the order, so that each tile of the row is folded by itself.
  virtual bool in_order() const = 0;
  // Loads the accumulator.
  virtual void Begin(const x86::Gp& accumulator) = 0;
  // Starts, and ends, the whole units of a tile.
  virtual void BeginTile() {}
  virtual void EndTile() {}
  // Starts, and ends, at most kBlock elements of these.
  virtual void BeginBlock() {}
  virtual void EndBlock() {}
  // Combines a whole vector, which has number `vector` within its unit.
  virtual void Whole(const Lane& lane, size_t vector) = 0;
  // Combines the elements within the extent, in their order.
  virtual void Part(const Lane& lane, const Extent& extent) = 0;
  // Stores the accumulator.
  virtual void End() = 0;
};

// Returns null if there is no translation.
std::unique_ptr<Folding> MakeFolding(Lanes& lanes, const KernelFold& fold);

}  // namespace hlod::engine::assemble
