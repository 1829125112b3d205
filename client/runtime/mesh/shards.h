// Buffers that stand for an array in parts on several devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/runtime/session/state.h"
#include "common/hlo/proto/tiles.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/mesh.h"

namespace hlod::runtime {

// The way an array lies on the devices of a mesh.
struct Division {
  Shape whole;
  std::string sharding;      // A serialized OpSharding; empty: each device has the whole.
  hlo::Tiling tiling;        // The tiling of positions in `devices`.
  std::vector<int> devices;  // Ordinals.

  // Two divisions are the same when the same devices hold the same tiles, however it is written.
  friend bool operator==(const Division& a, const Division& b) {
    return a.tiling.parts == b.tiling.parts && a.tiling.tiles == b.tiling.tiles && a.devices == b.devices;
  }
};

// The parts of an array, one per device.
struct Shards {
  Division division;
  std::vector<Buffer> parts;
};

// Reads a serialized OpSharding. The errors of TilingOf().
absl::StatusOr<Division> DivisionOf(const Shape& whole, std::string sharding,
                                    const std::vector<int>& devices);

// Reads HLO's text of a sharding. INVALID_ARGUMENT also for a shape that is not an array.
absl::StatusOr<Division> ReadDivision(const Mesh& mesh, const std::string& sharding, const Shape& whole);

// Returns "{devices=[2,1]<=[2]}" for each.
std::vector<std::string> ShardingTexts(const std::vector<Division>& divisions);

// Returns the buffer of the whole array. REQUIRES: there is a part per device, of the tile's shape.
Buffer FromParts(Division division, std::vector<Buffer> parts);

// Divides a buffer that is on one device, or divided in another way, without the host: programs on the
// devices cut and join it, and parts are copied between devices. A part may be `whole` itself. `is_temporary`
// is true for each part that only the result refers to. A placeholder's parts are placeholders.
struct Placed {
  Buffer buffer;
  std::vector<bool> is_temporary;
};
absl::StatusOr<Placed> Place(const Buffer& whole, const Division& division, const Caller& caller);

// Joins the parts on one device.
absl::StatusOr<Buffer> Gather(const Shards& shards, const Device& device, const Caller& caller);

// Starts a read of each tile; the future joins them.
Future<Literal> ReadShards(const std::shared_ptr<const Shards>& shards, Cause cause, const Caller& caller);
// Returns a future for the ends of all the parts' commands.
Future<void> ShardsReady(const Shards& shards);
// Fills the parts, which are placeholders.
absl::Status FillShards(const Shards& shards, absl::Span<const std::byte> bytes, const Caller& caller);

}  // namespace hlod::runtime
