// The mesh that a trace's program runs on.
#pragma once

#include <string>
#include <vector>

#include "client/tensor/trace/trace.h"
#include "hlod/runtime/mesh.h"

namespace hlod::lazy {

// Returns the devices of the mesh that the trace's parameters lie on, or that its values are stated to lie
// on, in the mesh's order; empty when none does. Throws an Error when there are several. REQUIRES: TraceLock.
std::vector<int> MeshOf(const Trace& graph, const Caller& caller);

// Puts the trace's parameters onto the mesh: those with a sharding as it says, the others whole on each
// device. REQUIRES: TraceLock.
void PlaceParameters(Trace& graph, const std::vector<int>& mesh, const Caller& caller);

// Returns the serialized OpSharding of a parameter: that which its buffer has on the mesh, or its annotation.
// Empty when it has none.
std::string ShardingOf(const Parameter& parameter);

// Remembers the names of a mesh's axes by its devices. REQUIRES: TraceLock.
void RememberAxes(const Mesh& mesh);
// Returns the mesh that was remembered last for these devices; a line of them when none was. The names are
// for reports: shardings of traces do not refer to them. REQUIRES: TraceLock.
Mesh MeshOfDevices(const std::vector<int>& devices);

// Returns true when nobody but the value refers to its buffer, or to one of its parts.
bool IsSoleOwner(const Value& value);

}  // namespace hlod::lazy
