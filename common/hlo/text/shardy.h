// Shardy's meshes and shardings, which programs carry as text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo {

// A grid of devices whose axes have names: sdy.mesh.
struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<int64_t> devices;  // The device ids in the mesh's order; empty means 0, 1, ...
};
// Returns the number of devices, the product of the axes' sizes; 1 without axes.
inline int64_t DeviceCount(const Mesh& mesh) {
  int64_t devices = 1;
  for (const auto& [name, size] : mesh.axes) devices *= size;
  return devices;
}
using Meshes = std::map<std::string, Mesh, std::less<>>;

// Parses '<["x"=2, "y"=4]>' or '<["x"=2], device_ids=[1, 0]>', with or without '#sdy.mesh' before it. Returns
// a mesh without axes for other text.
Mesh ParseMesh(std::string_view text);
std::string ToString(const Mesh& mesh);
// Parses the module's frontend attribute xla.sdy.meshes, in which XLA keeps them: '{mesh =
// #sdy.mesh<["x"=2]>}'.
Meshes ParseMeshes(std::string_view text);

// Splits the shardings of several values, '[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>]'.
std::vector<std::string_view> SplitShardings(std::string_view text);
// Returns the names in '{"x", "y"}'.
std::vector<std::string> AxisNames(std::string_view text);

// Converts a sharding ('#sdy.sharding<@mesh, [{"x"}, {}]>') of an array of `rank` dimensions to a serialized
// OpSharding, which is empty for a replicated one; nullopt when it has no simple form. With `axes`, only
// those axes divide it: over the others it is replicated.
std::optional<std::string> OpShardingOf(std::string_view sharding, const Meshes& meshes, size_t rank,
                                        const std::vector<std::string>* axes = nullptr);

// Returns true when the module is one partition's share of a program that XLA's partitioner has divided: its
// shapes are a partition's. The partitioner appends "_spmd" to the entry's name.
bool IsShare(const Module& module);

// Returns the number of partitions that run the program: one when they differ only in annotations. When the
// module does not state a number, it is the number of devices of its mesh: the HLO that JAX lowers to names a
// mesh but states no number.
int64_t PartitionsToRun(const Module& module);

}  // namespace hlod::hlo
