// Measurements behind the table of products: each library's speed on this machine.
#pragma once

#include <string>
#include <vector>

#include "server/engine/contraction/products.h"

namespace hlod::engine {

// A product, and its speed by each library that computes it.
struct ProductSpeed {
  hlo::PrimitiveType type;
  ProductShape shape;
  int64_t batches, m, n, k;
  struct Speed {
    ProductLibrary library;
    double flops;  // Operations per second.
  };
  std::vector<Speed> speeds;
  ProductLibrary chosen;  // The table's choice; not among the speeds if it lacks the type.
};

// Measures for about a second, on the calling thread's team of `threads`, with the instructions that this
// process uses.
std::vector<ProductSpeed> MeasureProducts(int threads);

// Returns the measurements as a table, in which a star marks the choices. A line at its end counts the
// products for which another library was more than a tenth faster than the choice.
std::string ProductTable(const std::vector<ProductSpeed>& products);

}  // namespace hlod::engine
