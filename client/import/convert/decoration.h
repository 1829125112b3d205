// Annotations of values: frontend attributes and shardings.
#pragma once

#include <map>
#include <string>

#include "client/import/program/operation.h"
#include "common/hlo/text/shardy.h"

namespace hlod::stablehlo {

using hlo::Mesh;
using hlo::Meshes;
Meshes MeshesOf(const Program& program);

// Returns the module's frontend attributes: those that it states, and its meshes in XLA's form.
std::map<std::string, std::string> ModuleAttributes(const Program& program);

struct Decoration {
  std::map<std::string, std::string> frontend_attributes;
  std::string sharding;  // Serialized OpSharding of the last instruction; or empty.

  // Adds the annotations that an operation, or an argument of this type, has in mhlo.frontend_attributes,
  // mhlo.sharding, sdy.sharding and sdy.sharding_rule.
  void Take(const AttributeMap& attributes, const Meshes& meshes, const Type& type);
};

}  // namespace hlod::stablehlo
