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

// Devices in a grid whose axes have names: sdy.mesh.
struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<int64_t> devices;  // In an order of its own; empty: 0, 1, ...
};
using Meshes = std::map<std::string, Mesh, std::less<>>;

// '<["x"=2, "y"=4]>' or '<["x"=2], device_ids=[1, 0]>', with or without '#sdy.mesh' before it; no axes for
// other text.
Mesh ParseMesh(std::string_view text);
std::string ToString(const Mesh& mesh);
// As XLA keeps them in the module's frontend attribute xla.sdy.meshes: '{mesh = #sdy.mesh<["x"=2]>}'.
Meshes ParseMeshes(std::string_view text);

// The shardings of several values, '[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>]', one by one.
std::vector<std::string_view> SplitShardings(std::string_view text);
// The names in '{"x", "y"}'.
std::vector<std::string> AxisNames(std::string_view text);

// A sharding ('#sdy.sharding<@mesh, [{"x"}, {}]>') of an array of `rank` dimensions as a serialized
// OpSharding (of what is replicated it is empty); nothing for what has no simple one. With `axes` those alone
// count: over others it is replicated.
std::optional<std::string> OpShardingOf(std::string_view sharding, const Meshes& meshes, size_t rank,
                                        const std::vector<std::string>* axes = nullptr);

// How many partitions run the program: one when they differ in annotations alone, and as many as its mesh has
// devices when it does not say, for the HLO that JAX lowers to names its mesh, and no number.
int64_t PartitionsToRun(const Module& module);

}  // namespace hlod::hlo
