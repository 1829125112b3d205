// Arrays that are divided among the devices of a mesh. Such an array is a Buffer like others: its shape is
// that of the whole, reads assemble it, and Buffer::shards() are its parts, one per device. Programs that
// were compiled for a mesh (CompileOptions::mesh) take and give them.
//
// A sharding is HLO's text: "{devices=[2,1,4]<=[8] last_tile_dim_replicate}" has two parts along the first
// dimension, and four devices hold each. ShardingOf() makes it of axes' names. Where a size does not divide
// evenly, the last parts end with zeros. The functions return INVALID_ARGUMENT for a sharding that is not one
// of the array's dimensions and the mesh's devices.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/mesh.h"
#include "hlod/runtime/types.h"

namespace hlod {

// Returns the shape of each device's part.
absl::StatusOr<Shape> ShardShape(const Shape& shape, const Mesh& mesh, const std::string& sharding);

// Cuts an array on the host, and uploads each device's part.
absl::StatusOr<Buffer> UploadShards(const Client& client, const Literal& value, const Mesh& mesh,
                                    const std::string& sharding, Cause cause = Cause::kUpload,
                                    Caller caller = Caller::Here());

// Makes a placeholder of each device's part.
absl::StatusOr<Buffer> PlaceholderShards(const Client& client, const Shape& shape, const Mesh& mesh,
                                         const std::string& sharding, Caller caller = Caller::Here());

// Makes the array of `shape` whose parts are on the devices already, in the mesh's order.
absl::StatusOr<Buffer> JoinShards(std::vector<Buffer> parts, const Shape& shape, const Mesh& mesh,
                                  const std::string& sharding);

// Divides an array that is on one device, or divided in another way, without the host: the devices cut it,
// and copy the parts (cause device_copy). The array stays valid, and shares its memory where it can.
// Buffer::CopyTo gathers the parts of a divided array on one device.
absl::StatusOr<Buffer> Divide(const Buffer& array, const Mesh& mesh, const std::string& sharding,
                              Caller caller = Caller::Here());

}  // namespace hlod
