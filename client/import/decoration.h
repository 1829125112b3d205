// What values carry beside their meaning: frontend attributes, and how they are to be sharded.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/import/operation.h"

namespace hlod::stablehlo {

// Devices in a grid whose axes have names: sdy.mesh.
struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;
  bool has_order = false;  // It lists its devices in an order of its own.
};
using Meshes = std::map<std::string, Mesh, std::less<>>;
Meshes MeshesOf(const Program& program);

// The module's frontend attributes: those that it states, and its meshes as XLA keeps them.
std::map<std::string, std::string> ModuleAttributes(const Program& program);

// A sharding of Shardy ('#sdy.sharding<@mesh, [{"x"}, {}]>') as a serialized OpSharding; empty for what has
// no simple one.
std::string OpShardingOf(std::string_view sharding, const Meshes& meshes, size_t rank);

struct Decoration {
  std::map<std::string, std::string> frontend_attributes;
  std::string sharding;  // A serialized OpSharding, of the last instruction; or empty.

  // Takes over what an operation or an argument of this type says in mhlo.frontend_attributes, mhlo.sharding,
  // sdy.sharding and sdy.sharding_rule.
  void Take(const AttributeMap& attributes, const Meshes& meshes, const Type& type);
};

}  // namespace hlod::stablehlo
