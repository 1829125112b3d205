// A program's signature as Execute sees it: the array leaves of its parameters and of its result.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// Arguments are the leaves of parameter 0, then those of parameter 1, and so on; results are those of the
// root. Each in Leaves() order.
struct FlatSignature {
  struct Leaf {
    Shape shape;             // Without a layout.
    int64_t parameter = -1;  // The parameter that it is, or lies in; -1 for a result.
    int64_t number = 0;      // Among the leaves of its parameter, or of the root.
    Dims index;              // Its path in there; empty when it is the whole.
  };

  explicit FlatSignature(const Computation& entry);

  // The argument at `index` of a parameter, the result at `index` of the root; -1 when there is none.
  int FindArgument(int64_t parameter, absl::Span<const int64_t> index) const;
  int FindResult(absl::Span<const int64_t> index) const;

  std::vector<Leaf> arguments, results;
};

}  // namespace hlod::hlo
