// Loads and stores of vectors, whole ones and those that end within.
#pragma once

#include <array>

#include "server/engine/assemble/lanes.h"

namespace hlod::engine::assemble {

// The value of a tile program for a vector of 32-bit elements. Floats, integers and bits as stored are in
// part[0]; narrower integers are widened by their sign. Elements of 64 bits are in both parts, preds in
// `mask`.
struct Lane {
  std::array<Num, 2> part;
  Mask mask;
};

// The elements that an access of a vector takes: all, those below a count, or the first one.
struct Extent {
  bool whole = true, one = false;
  x86::Gp count;  // If not whole, the elements that exist; 64 bits.
  Mask mask;      // The same as a mask of 32-bit elements.
};

// A scalar that is kept in a register: of 4 or 8 bytes in the low element of a vector, of one byte in a word.
struct Cell {
  x86::Xmm vector;
  x86::Gp word;
};

// Accesses elements of `width` bytes from `base` on, of which the first has number `index`.
class Memory {
 public:
  Memory(Lanes& lanes, const x86::Gp& base, const x86::Gp& index, const Extent& extent)
      : l_(lanes), base_(base), index_(index), extent_(extent) {}
  // Accesses one element, `offset` bytes after `base`, or in a cell.
  Memory(Lanes& lanes, const x86::Gp& base, int32_t offset, const Cell* cell, const Extent& one)
      : l_(lanes), base_(base), offset_(offset), cell_(cell), extent_(one) {}

  // Loads elements of at most 32 bits, widened by zeros, or by their sign.
  Num Load(int width, bool is_signed);
  std::array<Num, 2> LoadWide();
  Mask LoadPreds();
  Num LoadHalves();  // f16 as f32.
  void Store(const Num& value, int width);
  void StoreWide(const std::array<Num, 2>& value);
  void StorePreds(const Mask& mask);
  void StoreHalves(const Num& value);
  // Stores past the caches. The address must be a multiple of the vector's bytes.
  void StorePast(const Num& value);

 private:
  x86::Mem At(int width, int64_t offset = 0) const;
  // Access the first element only, in a general register or in the low bits of a vector register.
  x86::Gp LoadWord(int width, bool is_signed);
  Num LoadOne(int width, bool is_signed);
  void StoreWord(const x86::Gp& word, int width);
  void StoreOne(const Num& value, int width);
  // AVX2 has no masked access to narrow elements: they are copied to or from the stack. Its masked stores are
  // microcode on some processors, so that elements that end within a vector are stored in parts.
  x86::Mem CopyIn(int width);
  void CopyOut(const x86::Mem& from, int width);
  void CopyElements(const x86::Mem& stack, int width, bool in);
  void StorePacked(const x86::Xmm& packed, int bytes, int width);
  void StoreParts(const x86::Vec& first, const x86::Vec& second, int width);

  Lanes& l_;
  const x86::Gp base_, index_;  // No index for one element.
  const int32_t offset_ = 0;
  const Cell* const cell_ = nullptr;
  const Extent& extent_;
};

// Returns 32-bit elements as the packed bytes (width 1) or words (width 2) that AVX2 stores.
x86::Xmm PackAvx2(Lanes& l, const Num& value, int width);

}  // namespace hlod::engine::assemble
