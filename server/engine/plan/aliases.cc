// The module's input_output_alias and its donors, as numbers of leaves.
#include "server/engine/plan/aliases.h"

#include <algorithm>

namespace hlod::engine {
namespace {

// The position of `index` among leaves, which are in the order of their indices; -1 when there is none.
int LeafAt(absl::Span<const hlo::ShapeLeaf> leaves, const hlo::Dims& index) {
  const auto it =
      std::lower_bound(leaves.begin(), leaves.end(), index,
                       [](const hlo::ShapeLeaf& leaf, const hlo::Dims& i) { return leaf.index < i; });
  return it != leaves.end() && it->index == index ? static_cast<int>(it - leaves.begin()) : -1;
}

}  // namespace

std::vector<int> ResolveAliases(const hlo::Module& module, absl::Span<const hlo::Shape> arguments,
                                absl::Span<const hlo::Shape> results) {
  const hlo::Computation& entry = module.entry();
  std::vector<std::vector<hlo::ShapeLeaf>> parameter_leaves;
  std::vector<int> parameter_begin = {0};
  for (hlo::NodeId parameter : entry.parameters()) {
    parameter_leaves.push_back(hlo::Leaves(entry[parameter].shape()));
    parameter_begin.push_back(parameter_begin.back() + static_cast<int>(parameter_leaves.back().size()));
  }
  const auto argument_of = [&](int64_t parameter, const hlo::Dims& index) {
    if (parameter < 0 || parameter >= static_cast<int64_t>(parameter_leaves.size())) return -1;
    const int leaf = LeafAt(parameter_leaves[parameter], index);
    return leaf < 0 ? -1 : parameter_begin[parameter] + leaf;
  };

  std::vector<int> aliases(results.size(), -1);
  std::vector<bool> taken(arguments.size(), false);
  const auto share = [&](int result, int argument) {
    if (result < 0 || argument < 0 || taken[argument] || aliases[result] >= 0) return false;
    if (hlo::ByteSize(results[result]) != hlo::ByteSize(arguments[argument])) return false;
    aliases[result] = argument;
    taken[argument] = true;
    return true;
  };
  const std::vector<hlo::ShapeLeaf> root_leaves = hlo::Leaves(entry.root().shape());
  for (const hlo::InputOutputAlias& alias : module.input_output_alias) {
    share(LeafAt(root_leaves, alias.output_index),
          argument_of(alias.parameter_number, alias.parameter_index));
  }
  for (const hlo::BufferDonor& donor : module.buffer_donors) {
    const int argument = argument_of(donor.parameter_number, donor.parameter_index);
    if (argument < 0 || taken[argument]) continue;
    for (size_t r = 0; r < results.size(); ++r) {
      if (results[r] == arguments[argument] && share(static_cast<int>(r), argument)) break;
    }
  }
  return aliases;
}

}  // namespace hlod::engine
