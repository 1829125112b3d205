// Names of a mesh's axes for what XLA's partitioner writes as lists of devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/hlo/shape.h"
#include "common/hlo/text/shardy.h"

namespace hlod::analysis {

// The division of an array over a mesh. Axes are numbers of the mesh's axes.
struct AxisSpec {
  std::vector<std::vector<size_t>> dims;  // By dimension, the axes that divide it, the slowest first.
  std::vector<size_t> replicated;  // The axes over which the array is the same, of more than one device.
  bool known = false;              // False when the sharding is not one by whole axes of this mesh.
};

// Returns the division that a serialized OpSharding states for an array of `rank` dimensions; an empty one
// means that the array is replicated over all axes.
AxisSpec SpecOf(std::string_view sharding, size_t rank, const hlo::Mesh& mesh);

// Returns '[data, model+pipe, -]': the axes of each dimension. Empty when it is not known.
std::string ToString(const AxisSpec& spec, const hlo::Mesh& mesh);

// Returns the name of an axis; of one without a name its number.
std::string AxisName(const hlo::Mesh& mesh, size_t axis);

// Returns the axes along which the groups of a collective run; empty when they are not whole axes. `groups`
// has lists of devices.
std::vector<size_t> AxesOf(const std::vector<std::vector<int>>& groups, const hlo::Mesh& mesh);

// Returns the axes along which pairs of a source and a target differ.
std::vector<size_t> AxesOfPairs(const std::vector<int>& source_of, const hlo::Mesh& mesh);

}  // namespace hlod::analysis
