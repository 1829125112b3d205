// Divides arrays that are on one device, and gathers divided ones there.
#include <algorithm>
#include <map>
#include <utility>

#include "client/runtime/mesh/move_shards.h"
#include "client/runtime/mesh/shards.h"
#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "common/hlo/proto/codec.h"
#include "hlod/runtime/client.h"

namespace hlod::runtime {
namespace {

using hlo::Builder;
using hlo::Op;

// Returns `x` padded with zeros, at the end of each dimension, to the size of all tiles together.
Op Padded(Builder& b, Op x, const hlo::Tiling& tiling) {
  const Shape shape = b.shape(x), tile = hlo::TileShape(shape, tiling);
  std::vector<hlo::PadDimension> padding;
  bool is_even = true;
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    padding.push_back({.high = tile.dims[d] * tiling.parts[d] - shape.dims[d]});
    is_even = is_even && padding.back().high == 0;
  }
  if (is_even) return x;
  return b.Pad(x, b.Constant(Literal(Shape::Array(shape.type, {}))), padding);
}

// Makes the program that cuts an array into the tiles of these devices.
absl::Status BuildCut(Module& module, const Division& division, const std::vector<size_t>& holders) {
  Builder b(module, "main");
  const Op whole = Padded(b, b.Parameter(0, division.whole), division.tiling);
  const Shape tile = hlo::TileShape(division.whole, division.tiling);
  std::vector<Op> tiles;
  for (const size_t holder : holders) {
    Dims begin, end;
    for (size_t d = 0; d < tile.dims.size(); ++d) {
      begin.push_back(division.tiling.tiles[holder][d] * tile.dims[d]);
      end.push_back(begin.back() + tile.dims[d]);
    }
    tiles.push_back(b.Slice(whole, begin, end));
  }
  return b.Build(b.Tuple(tiles));
}

// Makes the program that joins tiles, given in row-major order of their positions.
absl::Status BuildJoin(Module& module, const Division& division) {
  Builder b(module, "main");
  const Shape tile = hlo::TileShape(division.whole, division.tiling);
  std::vector<Op> pieces;
  int64_t count = 1;
  for (const int64_t parts : division.tiling.parts) count *= parts;
  for (int64_t i = 0; i < count; ++i) pieces.push_back(b.Parameter(i, tile));
  const Op padded = Joined(b, std::move(pieces), division.tiling.parts);
  return b.Build(b.Slice(padded, Dims(tile.dims.size(), 0), division.whole.dims));
}

}  // namespace

Op Joined(Builder& b, std::vector<Op> pieces, const Dims& counts) {
  for (size_t d = counts.size(); d-- > 0;) {  // The last dimension's pieces are neighbours.
    const auto parts = static_cast<size_t>(counts[d]);
    if (parts == 1) continue;
    std::vector<Op> joined;
    for (size_t i = 0; i < pieces.size(); i += parts)
      joined.push_back(b.Concatenate(absl::MakeSpan(pieces).subspan(i, parts), static_cast<int64_t>(d)));
    pieces = std::move(joined);
  }
  return pieces[0];
}

absl::StatusOr<std::vector<Buffer>> RunOn(int device, const std::shared_ptr<Session>& session,
                                          const Module& module, absl::Span<const Argument> arguments,
                                          const Caller& caller) {
  ASSIGN_OR_RETURN(const Executable executable,
                   CompileBytes(session, &module, hlo::Serialize(module), /*describe=*/false, caller));
  ExecuteOptions options;
  options.abstract = true;
  options.device = device;
  return executable.Execute(arguments, options, caller);
}

absl::StatusOr<Buffer> Gather(const Shards& shards, const Device& device, const Caller& caller) {
  const Division& division = shards.division;
  std::map<Dims, Buffer> tiles;  // By position, which is the order of the program's parameters.
  for (size_t i = 0; i < shards.parts.size(); ++i) {
    Buffer& tile = tiles[division.tiling.tiles[i]];
    if (!tile.valid() || division.devices[i] == device.ordinal()) tile = shards.parts[i];
  }
  std::vector<Argument> arguments;
  for (auto& [position, tile] : tiles) {
    if (tile.device() != device.ordinal() || tiles.size() == 1) {
      ASSIGN_OR_RETURN(tile, tile.CopyTo(device, caller));
    }
    arguments.push_back(tile);
  }
  if (tiles.size() == 1) return tiles.begin()->second;
  Module module("gather");
  RETURN_IF_ERROR(BuildJoin(module, division));
  ASSIGN_OR_RETURN(
      const std::vector<Buffer> joined,
      RunOn(device.ordinal(), shards.parts[0].internal_state()->session, module, arguments, caller));
  return joined[0];
}

absl::StatusOr<Placed> Place(const Buffer& whole, const Division& division, const Caller& caller) {
  const std::shared_ptr<Session>& session = whole.internal_state()->session;
  const size_t count = division.devices.size();
  RETURN_IF_ERROR(CheckAlive(*whole.internal_state(), "a division"));
  if (const Shards* const shards = whole.internal_state()->shards.get(); shards != nullptr) {
    if (shards->division == division) return Placed{whole, std::vector<bool>(count, false)};
    return Redivide(*shards, division, caller);
  }
  const std::vector<size_t> holders = hlo::FirstHolders(division.tiling);
  std::map<Dims, Buffer> tiles;
  if (holders.size() == 1) {
    tiles[division.tiling.tiles[0]] = whole;
  } else {
    Module module("divide");
    RETURN_IF_ERROR(BuildCut(module, division, holders));
    ASSIGN_OR_RETURN(const std::vector<Buffer> cut,
                     RunOn(whole.device(), session, module, {Argument(whole)}, caller));
    for (size_t i = 0; i < holders.size(); ++i) tiles[division.tiling.tiles[holders[i]]] = cut[i];
  }
  Placed placed;
  std::vector<Buffer> parts;
  for (size_t i = 0; i < count; ++i) {
    Buffer tile = tiles[division.tiling.tiles[i]];
    placed.is_temporary.push_back(holders.size() > 1 || tile.device() != division.devices[i]);
    if (tile.device() != division.devices[i]) {
      ASSIGN_OR_RETURN(tile, tile.CopyTo(Device(session, division.devices[i]), caller));
    }
    parts.push_back(std::move(tile));
  }
  placed.buffer = FromParts(division, std::move(parts));
  return placed;
}

}  // namespace hlod::runtime
