// Helpers that the programs at edges are made of. generate.py has the same programs, by the same names, which
// PyTorch ran or refused; edges_test.cc compares.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {

using Results = std::vector<Tensor>;
using EdgeProgram = std::function<Results(const Device&)>;
using Programs = std::map<std::string, EdgeProgram>;

constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns consecutive numbers from `first` on.
inline Tensor Ramp(const Device& d, const Dims& dims, PrimitiveType type = kF64, int64_t first = 1) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return Arange(first, first + count, 1, {.type = type, .device = d}).Reshape(dims).Clone();
}
inline Tensor Leaf(const Device& d, const Dims& dims, PrimitiveType type = kF64, int64_t first = 1) {
  return Ramp(d, dims, type, first).RequiresGrad_();
}
inline Tensor Values(const Device& d, const std::vector<double>& values, const Dims& dims) {
  return FromValues<double>(values, dims, d);
}
inline Tensor LeafOf(const Device& d, const std::vector<double>& values, const Dims& dims) {
  return Values(d, values, dims).RequiresGrad_();
}
inline Tensor Indices(const Device& d, const std::vector<int64_t>& values, const Dims& dims) {
  return FromValues<int64_t>(values, dims, d);
}
// Returns the sum of y, each element weighted by its number.
inline Tensor Weighted(const Tensor& y, const Device& d) { return Sum(y * Ramp(d, y.dims())); }
inline void BackwardOf(const Tensor& y, const Device& d) { Weighted(y, d).Backward({.retain_graph = true}); }
inline Tensor SumOf(const Results& parts) {
  Tensor sum = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  return sum;
}

// Each is in the file of its name.
Programs Arithmetic();
Programs Layers();
Programs Matrices();
Programs Selections();

}  // namespace hlod
