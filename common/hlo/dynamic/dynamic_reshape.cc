// Splits both shapes at the points where the products of their sizes are equal.
#include "common/hlo/dynamic/dynamic_reshape.h"

#include <algorithm>

#include "common/base/errors/status.h"

namespace hlod::hlo {

absl::StatusOr<std::vector<ReshapeGroup>> DynamicReshapeGroups(const Shape& from, const Shape& to) {
  const auto refused = [&](std::string_view what, int64_t d) {
    return Unimplemented("Dimension %d of a reshape from %s to %s %s", d, ToStringNoLayout(from),
                         ToStringNoLayout(to), what);
  };
  std::vector<ReshapeGroup> groups;
  int64_t i = 0, o = 0;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dims[d] == 0) return refused("has no elements, so nothing says what the others make up", d);
  }
  while (i < from.rank() || o < to.rank()) {
    if (i == from.rank() || o == to.rank()) {  // Trailing dimensions of size one belong to the last group.
      if (groups.empty()) groups.emplace_back();
      while (i < from.rank()) groups.back().input.push_back(i++);
      while (o < to.rank()) groups.back().output.push_back(o++);
      break;
    }
    ReshapeGroup group;
    int64_t in = from.dims[i], out = to.dims[o];
    group.input.push_back(i++);
    group.output.push_back(o++);
    while (in != out) {
      if (in < out && i < from.rank()) {
        in *= from.dims[i];
        group.input.push_back(i++);
      } else if (out < in && o < to.rank()) {
        out *= to.dims[o];
        group.output.push_back(o++);
      } else {
        return refused("holds another number of elements", in < out ? o - 1 : i - 1);
      }
    }
    groups.push_back(std::move(group));
  }
  for (ReshapeGroup& group : groups) {
    const auto input = std::ranges::find_if(group.input, [&](int64_t d) { return from.IsDynamic(d); });
    for (const int64_t d : group.output) {
      if (!to.IsDynamic(d)) continue;
      if (group.dynamic_output) return refused("is the second dynamic one of the same elements", d);
      group.dynamic_output = d;
    }
    if ((input != group.input.end()) != group.dynamic_output.has_value()) {
      return group.dynamic_output
                 ? refused("is dynamic, and what it is made of is not", *group.dynamic_output)
                 : refused("is dynamic, and nothing that is made of it is", *input);
    }
  }
  return groups;
}

}  // namespace hlod::hlo
