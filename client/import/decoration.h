// What values carry beside their meaning: frontend attributes, and how they are to be sharded.
#pragma once

#include <map>
#include <string>

#include "client/import/operation.h"
#include "common/hlo/text/shardy.h"

namespace hlod::stablehlo {

using hlo::Mesh;
using hlo::Meshes;
Meshes MeshesOf(const Program& program);

// The module's frontend attributes: those that it states, and its meshes as XLA keeps them.
std::map<std::string, std::string> ModuleAttributes(const Program& program);

struct Decoration {
  std::map<std::string, std::string> frontend_attributes;
  std::string sharding;  // A serialized OpSharding, of the last instruction; or empty.

  // Takes over what an operation or an argument of this type says in mhlo.frontend_attributes, mhlo.sharding,
  // sdy.sharding and sdy.sharding_rule.
  void Take(const AttributeMap& attributes, const Meshes& meshes, const Type& type);
};

}  // namespace hlod::stablehlo
