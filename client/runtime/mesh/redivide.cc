// Divides a divided array in another way. A new part consists of pieces, one per old part that it overlaps. A
// device that has a piece cuts it out, sends it, and the receiver joins its pieces:
//
//   old parts, by rows          new parts, by columns
//   device 0: a b | c d         device 0: a b     the piece [a b] is its own, [e f] comes from device 1
//   device 1: e f | g h                   e f
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "client/runtime/mesh/move_shards.h"
#include "client/runtime/preflight/abstract_session.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

using hlo::Builder;
using hlo::Op;

// A box of the whole array, or of a part.
struct Box {
  Dims begin, end;
};

// Returns the box of a tile, cut off at the array's end.
Box BoxOf(const Division& division, const Dims& position) {
  const Shape tile = hlo::TileShape(division.whole, division.tiling);
  Box box;
  for (size_t d = 0; d < tile.dims.size(); ++d) {
    const int64_t size = division.whole.dims[d];
    box.begin.push_back(std::min(position[d] * tile.dims[d], size));
    box.end.push_back(std::min((position[d] + 1) * tile.dims[d], size));
  }
  return box;
}

Dims SizesOf(const Box& box) {
  Dims sizes;
  for (size_t d = 0; d < box.begin.size(); ++d) sizes.push_back(box.end[d] - box.begin[d]);
  return sizes;
}

// A piece of a new part: a box of an old one.
struct Piece {
  size_t part = 0;
  Box box;

  friend bool operator<(const Piece& a, const Piece& b) {
    return std::tie(a.part, a.box.begin, a.box.end) < std::tie(b.part, b.box.begin, b.box.end);
  }
};

// The pieces of a new part, as a grid in row-major order.
struct Grid {
  std::vector<Piece> pieces;
  Dims counts;
};

class Redivision {
 public:
  Redivision(const Shards& from, const Division& to, const Caller& caller)
      : from_(from),
        to_(to),
        caller_(caller),
        session_(from.parts[0].internal_state()->session),
        old_tile_(hlo::TileShape(from.division.whole, from.division.tiling)),
        new_tile_(hlo::TileShape(to.whole, to.tiling)) {}

  absl::StatusOr<Placed> Run() {
    std::vector<Grid> grids;
    for (size_t i = 0; i < to_.devices.size(); ++i) grids.push_back(GridOf(i));
    RETURN_IF_ERROR(Cut(grids));
    Placed placed;
    std::vector<Buffer> parts;
    for (size_t i = 0; i < grids.size(); ++i) {
      ASSIGN_OR_RETURN(parts.emplace_back(), PartOf(i, grids[i]));
      const auto is_it = [&](const Buffer& old) {
        return old.internal_state() == parts.back().internal_state();
      };
      placed.is_temporary.push_back(std::ranges::none_of(from_.parts, is_it));
    }
    placed.buffer = FromParts(to_, std::move(parts));
    return placed;
  }

 private:
  // Returns the number of an old part that is the tile at `position`: the one on `device` if there is one,
  // else the first.
  size_t HolderOf(const Dims& position, int device) const {
    const std::vector<Dims>& tiles = from_.division.tiling.tiles;
    size_t holder = tiles.size();
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (tiles[i] != position) continue;
      if (from_.division.devices[i] == device) return i;
      holder = std::min(holder, i);
    }
    return holder;
  }

  Grid GridOf(size_t part) const {
    const Box box = BoxOf(to_, to_.tiling.tiles[part]);
    Grid grid;
    Dims first, at;
    for (size_t d = 0; d < box.begin.size(); ++d) {
      // The part is nothing but padding.
      if (box.begin[d] == box.end[d]) return {{}, Dims(box.begin.size(), 0)};
      first.push_back(box.begin[d] / old_tile_.dims[d]);
      grid.counts.push_back((box.end[d] - 1) / old_tile_.dims[d] - first.back() + 1);
    }
    at = first;
    for (;;) {
      Piece piece{.part = HolderOf(at, to_.devices[part])};
      const Box old = BoxOf(from_.division, at);
      for (size_t d = 0; d < at.size(); ++d) {
        piece.box.begin.push_back(std::max(box.begin[d], old.begin[d]) - old.begin[d]);
        piece.box.end.push_back(std::min(box.end[d], old.end[d]) - old.begin[d]);
      }
      grid.pieces.push_back(std::move(piece));
      size_t d = at.size();
      while (d > 0 && ++at[d - 1] == first[d - 1] + grid.counts[d - 1]) {
        at[d - 1] = first[d - 1];
        --d;
      }
      if (d == 0) return grid;
    }
  }

  // Cuts the pieces, by one program per old part.
  absl::Status Cut(const std::vector<Grid>& grids) {
    std::map<size_t, std::vector<Piece>> of_part;
    for (const Grid& grid : grids) {
      for (const Piece& piece : grid.pieces) {
        if (!cut_.try_emplace(piece).second) continue;
        if (SizesOf(piece.box) == old_tile_.dims) cut_[piece] = from_.parts[piece.part];
        else of_part[piece.part].push_back(piece);
      }
    }
    for (const auto& [part, pieces] : of_part) {
      Module module("cut");
      Builder b(module, "main");
      const Op tile = b.Parameter(0, old_tile_);
      std::vector<Op> slices;
      for (const Piece& piece : pieces) slices.push_back(b.Slice(tile, piece.box.begin, piece.box.end));
      RETURN_IF_ERROR(b.Build(b.Tuple(slices)));
      ASSIGN_OR_RETURN(const std::vector<Buffer> results, RunOn(from_.parts[part].device(), session_, module,
                                                                {Argument(from_.parts[part])}, caller_));
      NoteElsewhere(results);
      for (size_t i = 0; i < pieces.size(); ++i) cut_[pieces[i]] = results[i];
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Buffer> PartOf(size_t part, const Grid& grid) {
    const int device = to_.devices[part];
    std::vector<Argument> arguments;
    for (const Piece& piece : grid.pieces) {
      ASSIGN_OR_RETURN(const Buffer sent, Sent(piece, device));
      if (grid.pieces.size() == 1 && SizesOf(piece.box) == new_tile_.dims) return sent;
      arguments.emplace_back(sent);
    }
    Module module("join");
    Builder b(module, "main");
    const Op zero = b.Constant(Literal(Shape::Array(new_tile_.type, {})));
    Op joined = b.Broadcast(zero, new_tile_.dims, {});
    if (!grid.pieces.empty()) {
      std::vector<Op> pieces;
      for (const Piece& piece : grid.pieces) {
        pieces.push_back(b.Parameter(static_cast<int64_t>(pieces.size()),
                                     Shape::Array(new_tile_.type, SizesOf(piece.box))));
      }
      joined = PaddedTo(b, Joined(b, std::move(pieces), grid.counts), zero);
    }
    RETURN_IF_ERROR(b.Build(joined));
    ASSIGN_OR_RETURN(const std::vector<Buffer> results, RunOn(device, session_, module, arguments, caller_));
    return results[0];
  }

  Op PaddedTo(Builder& b, Op x, Op zero) const {
    const Dims dims = b.shape(x).dims;
    if (dims == new_tile_.dims) return x;
    std::vector<hlo::PadDimension> padding;
    for (size_t d = 0; d < dims.size(); ++d) padding.push_back({.high = new_tile_.dims[d] - dims[d]});
    return b.Pad(x, zero, padding);
  }

  // Returns the piece on a device, to which it is copied at the first call.
  absl::StatusOr<Buffer> Sent(const Piece& piece, int device) {
    const Buffer& cut = cut_.at(piece);
    if (cut.device() == device) return cut;
    const auto [found, added] = sent_.try_emplace({piece, device});
    if (added) {
      ASSIGN_OR_RETURN(found->second, cut.CopyTo(Device(session_, device), caller_));
      NoteElsewhere({found->second});
    }
    return found->second;
  }

  // Notes buffers that are not on the first device, the only one that a preflight follows.
  void NoteElsewhere(const std::vector<Buffer>& buffers) const {
    AbstractSession* const log = session_->options().abstract.get();
    if (log != nullptr && buffers[0].device() != to_.devices[0]) log->Elsewhere(buffers);
  }

  const Shards& from_;
  const Division& to_;
  const Caller& caller_;
  const std::shared_ptr<Session> session_;
  const Shape old_tile_, new_tile_;
  std::map<Piece, Buffer> cut_;
  std::map<std::pair<Piece, int>, Buffer> sent_;
};

}  // namespace

absl::StatusOr<Placed> Redivide(const Shards& from, const Division& to, const Caller& caller) {
  return Redivision(from, to, caller).Run();
}

}  // namespace hlod::runtime
