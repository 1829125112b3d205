// Networks of chips: the links of a pod or of a node, and the slower network that joins several of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"
#include "common/hlo/text/shardy.h"

namespace hlod::network {

// A row of topologies.inc, which explains the fields.
struct Topology {
  std::string chip;
  int rank = 0;
  double link = 0, hop_seconds = 0;
  int64_t wraps_at = 1, domain = 1;
  double outer = 0, outer_hop_seconds = 0;
  std::string source;
};

// Returns the network of a chip of the table, or nullopt for another chip: its network is not known.
std::optional<Topology> TopologyOf(std::string_view chip);

// Returns the most cubic shape of a torus with `chips` chips, its dimensions ascending: 4x4x8 for 128 chips
// in three dimensions, as Google Cloud names v5p slices.
hlo::Dims CubicShape(int64_t chips, int rank);

// The place of a chip: its domain, and its position in the torus or at the switch of that domain.
struct ChipPlace {
  int64_t domain = 0;
  hlo::Dims position;
};

// The chips on which a program runs, with a place for each of its participants.
struct Network {
  Topology topology;
  hlo::Dims shape;  // The torus of a domain; one number, of chips, at a switch.
  int64_t domains = 1;
  hlo::Mesh mesh;                 // The named axes, slowest first; without axes when the program has no mesh.
  std::vector<ChipPlace> places;  // The places by participant.
};

// Lays a mesh out on chips as JAX's mesh_utils does: each axis gets whole dimensions of the torus where the
// sizes allow it, the last axis first and most dimensions first, otherwise factors of dimensions. Several
// domains divide the first axes. `shape` is the torus of one domain; empty: CubicShape. A mesh without axes
// takes the chips in row-major order.
//
// INVALID_ARGUMENT when the shape does not have the topology's rank or does not divide `chips`, or the mesh
// does not have `chips` devices.
absl::StatusOr<Network> MakeNetwork(const Topology& topology, int64_t chips, const hlo::Mesh& mesh,
                                    const hlo::Dims& shape = {});

// Reads "v5p:4x4x4", or "v5p:64" for the most cubic shape; places are in row-major order. INVALID_ARGUMENT,
// with the chips that are known, when it is another text, and when the shape is not one of the chip's
// network.
absl::StatusOr<Network> ParseNetwork(std::string_view text);

}  // namespace hlod::network
