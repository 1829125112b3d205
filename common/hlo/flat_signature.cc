// Lists the leaves of parameters and root one after another, and finds the position of an index in that list.
#include "common/hlo/flat_signature.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hlod::hlo {
namespace {

void Append(const Shape& shape, int64_t parameter, std::vector<FlatSignature::Leaf>& to) {
  int64_t number = 0;
  for (ShapeLeaf& found : Leaves(shape)) {
    FlatSignature::Leaf& leaf =
        to.emplace_back(FlatSignature::Leaf{*found.shape, parameter, number++, std::move(found.index)});
    leaf.shape.layout.reset();
  }
}

// Finds a leaf by binary search: leaves are in the order of their parameters and, within each, of their
// indices.
int Find(const std::vector<FlatSignature::Leaf>& leaves, int64_t parameter, absl::Span<const int64_t> index) {
  const auto before = [&](const FlatSignature::Leaf& leaf) {
    return std::make_pair(leaf.parameter, absl::MakeConstSpan(leaf.index)) < std::make_pair(parameter, index);
  };
  const auto it = std::partition_point(leaves.begin(), leaves.end(), before);
  const bool found =
      it != leaves.end() && it->parameter == parameter && absl::MakeConstSpan(it->index) == index;
  return found ? static_cast<int>(it - leaves.begin()) : -1;
}

}  // namespace

FlatSignature::FlatSignature(const Computation& entry) {
  for (const NodeId id : entry.parameters())
    Append(entry[id].shape(), entry[id].parameter_number(), arguments);
  if (entry.size() > 0) Append(entry.root().shape(), -1, results);
}

int FlatSignature::FindArgument(int64_t parameter, absl::Span<const int64_t> index) const {
  return parameter < 0 ? -1 : Find(arguments, parameter, index);
}

int FlatSignature::FindResult(absl::Span<const int64_t> index) const { return Find(results, -1, index); }

}  // namespace hlod::hlo
