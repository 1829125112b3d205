// The layout of a mesh's axes on the dimensions of a torus, by the sizes that fit.
#include "common/network/topology.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod::network {
namespace {

using hlo::Dims;

int64_t Product(const Dims& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// A part of a dimension that one axis of the mesh runs along: positions 0, stride, 2 * stride, ...
struct AxisPart {
  size_t dimension = 0;
  int64_t size = 1, stride = 1;
};
using Parts = std::vector<AxisPart>;  // The parts of one axis, slowest first.

// Assigns dimensions of a torus to the axes of a mesh.
class AxisAssignment {
 public:
  explicit AxisAssignment(const Dims& shape) : shape_(shape), left_(shape) {}

  std::vector<Parts> Assign(const Dims& axes) {
    std::vector<Parts> parts(axes.size());
    for (size_t axis = axes.size(); axis-- > 0;) {
      if (!TakeWhole(axes[axis], parts[axis])) TakeFactors(axes[axis], parts[axis]);
    }
    return parts;
  }

 private:
  // Takes the largest set of unused dimensions whose sizes multiply to the axis.
  bool TakeWhole(int64_t size, Parts& parts) {
    if (size == 1) return true;
    unsigned best = 0;
    for (unsigned set = 1; set < 1u << shape_.size(); ++set) {
      int64_t product = 1;
      for (size_t d = 0; d < shape_.size(); ++d) {
        if ((set >> d & 1) == 0) continue;
        product = left_[d] == shape_[d] ? product * shape_[d] : 0;
      }
      if (product == size && std::popcount(set) > std::popcount(best)) best = set;
    }
    for (size_t d = 0; d < shape_.size(); ++d) {
      if ((best >> d & 1) == 0) continue;
      parts.push_back({d, shape_[d], 1});
      left_[d] = 1;
    }
    return best != 0;
  }
  // Takes common factors with what is left of each dimension, which leaves lines and not rings.
  void TakeFactors(int64_t size, Parts& parts) {
    for (size_t d = shape_.size(); d-- > 0 && size > 1;) {
      const int64_t factor = std::gcd(size, left_[d]);
      if (factor == 1) continue;
      parts.insert(parts.begin(), {d, factor, shape_[d] / left_[d]});
      left_[d] /= factor;
      size /= factor;
    }
  }

  const Dims& shape_;
  Dims left_;  // The factors of the dimensions that no axis has yet.
};

// Splits an index into the positions along sizes, of which the last varies fastest.
Dims Positions(int64_t index, const Dims& sizes) {
  Dims positions(sizes.size(), 0);
  for (size_t i = sizes.size(); i-- > 0;) {
    positions[i] = index % sizes[i];
    index /= sizes[i];
  }
  return positions;
}

// Divides the first axes of a mesh among the domains, in place. Returns false when they do not divide.
bool DivideAmongDomains(Dims& axes, int64_t domains) {
  for (int64_t& axis : axes) {
    const int64_t factor = std::gcd(axis, domains);
    axis /= factor;
    domains /= factor;
  }
  return domains == 1;
}

ChipPlace PlaceOf(int64_t participant, const Dims& whole, const Dims& within, const std::vector<Parts>& parts,
                  size_t rank) {
  ChipPlace place{.position = Dims(rank, 0)};
  const Dims axes = Positions(participant, whole);
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const int64_t count = whole[axis] / within[axis];  // The domains along this axis.
    place.domain = place.domain * count + axes[axis] / within[axis];
    Dims sizes;
    for (const AxisPart& part : parts[axis]) sizes.push_back(part.size);
    const Dims positions = Positions(axes[axis] % within[axis], sizes);
    for (size_t i = 0; i < sizes.size(); ++i)
      place.position[parts[axis][i].dimension] += positions[i] * parts[axis][i].stride;
  }
  return place;
}

}  // namespace

namespace {

const std::vector<Topology>& Topologies() {
  static const std::vector<Topology> rows = {
#define HLOD_TOPOLOGY(chip, rank, link, hop, wraps_at, domain, outer, outer_hop, source) \
  {chip, rank, link, hop, wraps_at, domain, outer, outer_hop, source},
#include "common/network/topologies.inc"
#undef HLOD_TOPOLOGY
  };
  return rows;
}

}  // namespace

std::optional<Topology> TopologyOf(std::string_view chip) {
  const auto row = std::ranges::find(Topologies(), chip, &Topology::chip);
  return row == Topologies().end() ? std::nullopt : std::optional(*row);
}

absl::StatusOr<Network> ParseNetwork(std::string_view text) {
  constexpr int64_t kChipsMax = 1 << 16;
  const size_t colon = text.find(':');
  const std::optional<Topology> topology = TopologyOf(text.substr(0, colon));
  Dims shape;
  int64_t chips = topology.has_value() && colon != std::string_view::npos ? 1 : 0;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(chips == 0 ? "" : text.substr(colon + 1)), 'x')) {
    int64_t size = 0;
    const bool is_size = absl::SimpleAtoi(part, &size) && size >= 1 && size <= kChipsMax;
    chips = is_size && chips <= kChipsMax / size ? chips * size : 0;
    shape.push_back(size);
  }
  if (chips == 0 || text.find(' ') != std::string_view::npos) {
    const auto name = [](std::string* out, const Topology& row) { out->append(row.chip); };
    return InvalidArgument(
        "\"%s\" is not a network: expected a chip (%s) and its shape or number, at most %d, as in v5p:4x4x4",
        text, absl::StrJoin(Topologies(), ", ", name), kChipsMax);
  }
  if (shape.size() == 1 && topology->rank > 1) shape.clear();
  return MakeNetwork(*topology, chips, {}, shape);
}

Dims CubicShape(int64_t chips, int rank) {
  if (rank <= 1) return {chips};
  Dims best;
  for (int64_t first = 1; first <= chips; ++first) {
    int64_t power = 1;
    for (int i = 0; i < rank; ++i) power *= first;
    if (power > chips) break;  // Dimensions ascend, so no later one is smaller.
    if (chips % first != 0) continue;
    Dims shape = CubicShape(chips / first, rank - 1);
    shape.insert(shape.begin(), first);
    best = std::move(shape);  // A larger first dimension is nearer to a cube.
  }
  return best;
}

absl::StatusOr<Network> MakeNetwork(const Topology& topology, int64_t chips, const hlo::Mesh& mesh,
                                    const Dims& shape) {
  Network network{.topology = topology, .shape = shape, .mesh = mesh};
  if (network.shape.empty()) {
    network.domains = (chips + topology.domain - 1) / topology.domain;
    while (chips % network.domains != 0) ++network.domains;
    network.shape = CubicShape(chips / network.domains, topology.rank);
  }
  const size_t rank = static_cast<size_t>(std::max(topology.rank, 1));
  const int64_t each = Product(network.shape);
  if (network.shape.size() != rank || each < 1 || chips % each != 0) {
    return InvalidArgument(
        "topology %s has %d dimensions and %d chips; one of %s has %d dimensions, and %d chips are "
        "a multiple of its chips",
        absl::StrJoin(network.shape, "x"), network.shape.size(), each, topology.chip, rank, chips);
  }
  network.domains = chips / each;
  Dims whole;
  for (const auto& [name, size] : mesh.axes) whole.push_back(size);
  if (whole.empty()) whole.push_back(chips);
  if (Product(whole) != chips)
    return InvalidArgument("mesh %s has %d devices; the target has %d chips", hlo::ToString(mesh),
                           Product(whole), chips);
  Dims within = whole;
  if (!DivideAmongDomains(within, network.domains)) {
    whole = within = {chips};
    DivideAmongDomains(within, network.domains);
  }
  const std::vector<Parts> parts = AxisAssignment(network.shape).Assign(within);
  network.places.resize(static_cast<size_t>(chips));
  for (int64_t position = 0; position < chips; ++position) {
    // A mesh with device ids names the device at each position.
    const size_t at = static_cast<size_t>(position);
    const size_t device = at < mesh.devices.size() ? static_cast<size_t>(mesh.devices[at]) : at;
    if (device >= network.places.size())
      return InvalidArgument("mesh %s names device %d of %d", hlo::ToString(mesh), device, chips);
    network.places[device] = PlaceOf(position, whole, within, parts, rank);
  }
  return network;
}

}  // namespace hlod::network
