// Cells are chosen by leaving out: a scalar that some access cuts, or joins with other bytes, stays in
// memory, and so do all that overlap it.
#include "server/engine/assemble/loop_cells.h"

#include <algorithm>
#include <iterator>

namespace hlod::engine::assemble {
namespace {

// More are not worth the time to choose registers, of which there are 16 or 32.
constexpr size_t kCellsMax = 96;
constexpr int kWidthMax = 8;

bool IsCellWidth(int width) { return width == 1 || width == 4 || width == 8; }

}  // namespace

// Adds a scalar, unless it is known. Returns false if it overlaps another one.
bool LoopCells::AddTo(Scalars& scalars, Address at, const Scalar& scalar) {
  const auto [found, added] = scalars.try_emplace(at, scalar);
  if (added) return true;
  found->second.written = found->second.written || scalar.written;
  return found->second.width == scalar.width;
}

void LoopCells::AddScalar(int32_t slot, int64_t offset, int width, bool writes) {
  const Address at = At(slot, offset);
  if (!IsCellWidth(width) || !AddTo(scalars_, at, {.width = width, .written = writes, .slot = slot}))
    AddBytes(at, width);
}

void LoopCells::AddCopy(int32_t from, int64_t from_offset, int32_t to, int64_t to_offset, int64_t bytes) {
  copies_.push_back({At(from, from_offset), At(to, to_offset), bytes, from, to});
}

LoopCells::Scalars::const_iterator LoopCells::FirstOf(const Range& range) const {
  auto first = scalars_.lower_bound({range.from.first, range.from.second - kWidthMax + 1});
  while (first != scalars_.end() && first->first.first == range.from.first &&
         first->first.second + first->second.width <= range.from.second)
    ++first;
  return first;
}

bool LoopCells::Touches(Scalars::const_iterator scalar, const Range& range) const {
  return scalar != scalars_.end() && scalar->first.first == range.from.first &&
         scalar->first.second < range.from.second + range.bytes &&
         scalar->first.second + scalar->second.width > range.from.second;
}

// Drops the scalars that have bytes of the range, and all that overlap these. Returns true if there are any.
bool LoopCells::DropAll(const Range& range) {
  bool dropped = false;
  for (auto scalar = FirstOf(range); Touches(scalar, range); scalar = FirstOf(range)) {
    const Range own{scalar->first, scalar->second.width};
    scalars_.erase(scalar->first);
    DropAll(own);
    dropped = true;
  }
  return dropped;
}

// Drops the scalars that are partly in the range.
bool LoopCells::DropCut(const Range& range) {
  bool dropped = false;
  for (const Range& edge : {Range{{range.from.first, range.from.second - 1}, 2},
                            Range{{range.from.first, range.from.second + range.bytes - 1}, 2}}) {
    for (auto scalar = FirstOf(edge); Touches(scalar, edge);) {
      const int64_t middle = edge.from.second + 1;
      if (scalar->first.second < middle && scalar->first.second + scalar->second.width > middle) {
        dropped = DropAll({scalar->first, scalar->second.width}) || dropped;
        scalar = FirstOf(edge);
      } else {
        ++scalar;
      }
    }
  }
  return dropped;
}

// Adds the scalars of either end of a copy at the other end. Returns true if there are new ones.
bool LoopCells::Mirror(const Copy& copy) {
  std::vector<std::pair<Address, Scalar>> added;
  const auto look = [&](Address from, Address to, int32_t slot, bool writes) {
    const Range range{from, copy.bytes};
    for (auto scalar = FirstOf(range); Touches(scalar, range); ++scalar) {
      const Address at{to.first, to.second + scalar->first.second - from.second};
      added.emplace_back(at, Scalar{.width = scalar->second.width, .written = writes, .slot = slot});
    }
  };
  look(copy.from, copy.to, copy.to_slot, true);
  look(copy.to, copy.from, copy.from_slot, false);
  const size_t before = scalars_.size();
  for (const auto& [at, scalar] : added) {
    if (!AddTo(scalars_, at, scalar)) AddBytes(at, kWidthMax);
  }
  return scalars_.size() != before;
}

void LoopCells::MarkWritten(const Range& range) {
  for (auto scalar = FirstOf(range); Touches(scalar, range); ++scalar)
    scalars_.at(scalar->first).written = true;
}

// Drops the scalars of both ends that are at the same place but not equally wide.
bool LoopCells::DropUnequal(const Copy& copy) {
  const Range from{copy.from, copy.bytes};
  for (auto scalar = FirstOf(from); Touches(scalar, from); ++scalar) {
    const Range other{{copy.to.first, copy.to.second + scalar->first.second - copy.from.second},
                      scalar->second.width};
    const auto found = FirstOf(other);
    if (!Touches(found, other) || (found->first == other.from && found->second.width == other.bytes))
      continue;
    const Range own{scalar->first, scalar->second.width};
    DropAll(other);
    DropAll(own);
    return true;
  }
  return false;
}

void LoopCells::Choose() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Copy& copy : copies_) changed = Mirror(copy) || changed;
    if (scalars_.size() > 4 * kCellsMax) break;
  }
  // When all are known: a copy may be listed before the one that adds a scalar at its target.
  for (const Copy& copy : copies_) MarkWritten({copy.to, copy.bytes});
  // Ones that overlap are dropped together.
  for (auto scalar = scalars_.begin(); scalar != scalars_.end(); ++scalar) {
    const auto next = std::next(scalar);
    if (next != scalars_.end() && Touches(next, {scalar->first, scalar->second.width}))
      AddBytes(next->first, next->second.width);
  }
  for (const Range& range : ranges_) DropAll(range);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Copy& copy : copies_) {
      changed = DropCut({copy.from, copy.bytes}) || changed;
      changed = DropCut({copy.to, copy.bytes}) || changed;
      while (DropUnequal(copy)) changed = true;
    }
  }
  if (scalars_.size() > kCellsMax) scalars_.clear();
}

const Cell* LoopCells::Find(int32_t slot, int64_t offset, int width) const {
  const auto found = scalars_.find(At(slot, offset));
  return found == scalars_.end() || found->second.width != width ? nullptr : &found->second.cell;
}

std::vector<LoopCells::Piece> LoopCells::PiecesOf(int32_t from, int64_t from_offset, int32_t to,
                                                  int64_t to_offset, int64_t bytes) const {
  std::vector<Piece> pieces;
  const auto cell_at = [this](Address start, int64_t at) -> const Scalar* {
    const auto found = scalars_.find({start.first, start.second + at});
    return found == scalars_.end() ? nullptr : &found->second;
  };
  for (int64_t at = 0; at < bytes;) {
    const Scalar* const source = cell_at(At(from, from_offset), at);
    const Scalar* const target = cell_at(At(to, to_offset), at);
    if (source == nullptr && target == nullptr) {
      const bool goes_on = !pieces.empty() && pieces.back().from == nullptr && pieces.back().to == nullptr;
      if (goes_on) ++pieces.back().bytes;
      else pieces.push_back({at, 1, nullptr, nullptr});
      ++at;
      continue;
    }
    const int64_t width = source != nullptr ? source->width : target->width;
    pieces.push_back({at, width, source == nullptr ? nullptr : &source->cell,
                      target == nullptr ? nullptr : &target->cell});
    at += width;
  }
  return pieces;
}

x86::Mem LoopCells::Place(x86::Compiler& cc, const x86::Gp& table, Address at, const Scalar& scalar) const {
  const x86::Gp pointer = cc.newUIntPtr();
  cc.mov(pointer, x86::ptr(table, 8 * scalar.slot));
  const int64_t distance = at.second - code_.slots[static_cast<size_t>(scalar.slot)].offset;
  if (distance != static_cast<int32_t>(distance)) {
    const x86::Gp far = cc.newUIntPtr();
    cc.mov(far, distance);
    cc.add(pointer, far);
    return x86::ptr(pointer, 0, static_cast<uint32_t>(scalar.width));
  }
  return x86::ptr(pointer, static_cast<int32_t>(distance), static_cast<uint32_t>(scalar.width));
}

void LoopCells::Load(x86::Compiler& cc, const x86::Gp& table) {
  for (auto& [at, scalar] : scalars_) {
    const x86::Mem place = Place(cc, table, at, scalar);
    if (scalar.width == 1) {
      scalar.cell.word = cc.newUInt32();
      cc.movzx(scalar.cell.word, place);
      continue;
    }
    scalar.cell.vector = cc.newXmm();
    if (scalar.width == 4) cc.vmovd(scalar.cell.vector, place);
    else cc.vmovq(scalar.cell.vector, place);
  }
}

void LoopCells::Store(x86::Compiler& cc, const x86::Gp& table) {
  for (const auto& [at, scalar] : scalars_) {
    if (!scalar.written) continue;
    const x86::Mem place = Place(cc, table, at, scalar);
    if (scalar.width == 1) cc.mov(place, scalar.cell.word.r8());
    else if (scalar.width == 4) cc.vmovd(place, scalar.cell.vector);
    else cc.vmovq(place, scalar.cell.vector);
  }
}

}  // namespace hlod::engine::assemble
