// A program's signature as Execute uses it: the array leaves of its parameters and of its result.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// Arguments are the leaves of parameter 0, then those of parameter 1, and so on; results are the leaves of
// the root. Both are in Leaves() order.
struct FlatSignature {
  struct Leaf {
    Shape shape;             // The leaf's shape, without a layout.
    int64_t parameter = -1;  // The parameter that contains the leaf; -1 for a result.
    int64_t number = 0;      // The position among the leaves of its parameter, or of the root.
    Dims index;              // The path in the parameter or root; empty when the leaf is the whole.
  };

  explicit FlatSignature(const Computation& entry);

  // Return the position of the argument at `index` of a parameter, or of the result at `index` of the root;
  // -1 when it does not exist.
  int FindArgument(int64_t parameter, absl::Span<const int64_t> index) const;
  int FindResult(absl::Span<const int64_t> index) const;

  std::vector<Leaf> arguments, results;
};

}  // namespace hlod::hlo
