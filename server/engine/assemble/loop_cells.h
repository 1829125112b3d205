// Finds the scalars of a loop that its machine code keeps in registers.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "server/engine/assemble/memory.h"
#include "server/engine/run/code.h"

namespace hlod::engine::assemble {

// The accesses of a loop's code to memory: first all are added, then Choose finds the cells. A cell is a
// scalar of 1, 4 or 8 bytes whose bytes the loop accesses only as this scalar, or by copies that take all of
// it.
class LoopCells {
 public:
  explicit LoopCells(const Code& code) : code_(code) {}

  // Add accesses from `offset` bytes after the beginning of a slot on.
  void AddScalar(int32_t slot, int64_t offset, int width, bool writes);
  void AddBytes(int32_t slot, int64_t offset, int64_t bytes) { AddBytes(At(slot, offset), bytes); }
  void AddSlot(int32_t slot) { AddBytes(slot, 0, code_.slots[static_cast<size_t>(slot)].bytes); }
  void AddCopy(int32_t from, int64_t from_offset, int32_t to, int64_t to_offset, int64_t bytes);
  // Chooses the cells. There are none if they would be too many.
  void Choose();

  // Reads all cells into registers, and writes those that the loop changes back.
  void Load(x86::Compiler& cc, const x86::Gp& table);
  void Store(x86::Compiler& cc, const x86::Gp& table);

  // Returns the cell, or null if the scalar is not one.
  const Cell* Find(int32_t slot, int64_t offset, int width) const;

  // A part of a copy: a scalar of which one end or both are cells, or bytes between such scalars.
  struct Piece {
    int64_t at = 0, bytes = 0;
    const Cell *from = nullptr, *to = nullptr;
  };
  std::vector<Piece> PiecesOf(int32_t from, int64_t from_offset, int32_t to, int64_t to_offset,
                              int64_t bytes) const;

 private:
  using Address = std::pair<int32_t, int64_t>;  // Base and offset.
  struct Scalar {
    int width = 0;
    bool written = false;
    int32_t slot = 0;  // A slot of the same base, from which the address is computed.
    Cell cell;
  };
  struct Range {
    Address from;
    int64_t bytes = 0;
  };
  struct Copy {
    Address from, to;
    int64_t bytes = 0;
    int32_t from_slot = 0, to_slot = 0;
  };
  using Scalars = std::map<Address, Scalar>;

  Address At(int32_t slot, int64_t offset) const {
    const Slot& place = code_.slots[static_cast<size_t>(slot)];
    return {place.base, place.offset + offset};
  }
  void AddBytes(Address from, int64_t bytes) { ranges_.push_back({from, bytes}); }
  bool AddTo(Scalars& scalars, Address at, const Scalar& scalar);
  // Return the first scalar that has a byte of the range, or is behind it.
  Scalars::const_iterator FirstOf(const Range& range) const;
  bool Touches(Scalars::const_iterator scalar, const Range& range) const;
  bool DropAll(const Range& range);
  bool Mirror(const Copy& copy);
  void MarkWritten(const Range& range);
  bool DropCut(const Range& range);
  bool DropUnequal(const Copy& copy);
  x86::Mem Place(x86::Compiler& cc, const x86::Gp& table, Address at, const Scalar& scalar) const;

  const Code& code_;
  Scalars scalars_;
  std::vector<Range> ranges_;  // Accessed otherwise.
  std::vector<Copy> copies_;
};

}  // namespace hlod::engine::assemble
