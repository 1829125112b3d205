// Collectives: inside a function given to Vmap, values of the other examples, by the name of the axis.
//
//   auto normalized = Vmap([](const Tensor& x) { return x - Pmean(x, "batch"); }, {.axis_name = "batch"});
//
// They may stand in loops, branches and functions within that function, under Vmaps of other names, and under
// Grad, where the gradient is that of the sum of all examples' values. Nothing is sent: the program has the
// examples along a dimension, and a collective is a sum or a move along it. A name without a Vmap of that
// axis_name around throws an Error, and so does a collective in a branch or an unbounded loop that only some
// examples take: the predicate must be the same for all, as one made by Pmax is. As jax.lax has them.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// The name of one axis, or of several, which differ: collectives over {"i", "j"} are over all pairs of
// examples.
class AxisNames {
 public:
  AxisNames(const char* name) : names_{name} {}             // NOLINT: implicit.
  AxisNames(std::string name) : names_{std::move(name)} {}  // NOLINT: implicit.
  AxisNames(std::initializer_list<std::string> names) : names_(names) {}
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// The number of examples; of several axes, their product.
int64_t AxisSize(const AxisNames& axis, Caller caller = Caller::Here());
// The index of the example, an s64 scalar; of several axes, the last one's varies fastest. At least one.
Tensor AxisIndex(const AxisNames& axis, Caller caller = Caller::Here());

// The sum over the examples; of bools an s64.
Tensor Psum(const Operand& x, const AxisNames& axis);
Tensor Pmean(const Operand& x, const AxisNames& axis);
// Has a gradient, which ties share; JAX has none.
Tensor Pmax(const Operand& x, const AxisNames& axis);
Tensor Pmin(const Operand& x, const AxisNames& axis);
// The value of example `source`, for all.
Tensor Pbroadcast(const Operand& x, const std::string& axis, int64_t source);

// Sends x from the first to the second of each pair; an example that receives none gets zeros. No example
// sends or receives twice.
Tensor Ppermute(const Operand& x, const std::string& axis,
                const std::vector<std::pair<int64_t, int64_t>>& pairs);
// Gives example i the value of example from[i]: a permutation.
Tensor Pshuffle(const Operand& x, const std::string& axis, const std::vector<int64_t>& from);

struct AllGatherOptions {
  int64_t dim = 0;     // The dimension of the result that counts examples.
  bool tiled = false;  // The examples' values are concatenated along `dim` instead of stacked.
};
// The examples' values, together.
Tensor AllGather(const Operand& x, const std::string& axis, const AllGatherOptions& options = {});

struct PsumScatterOptions {
  int64_t dim = 0;     // The dimension of x that is divided among the examples.
  bool tiled = false;  // It keeps size / examples; otherwise its size is the number of examples, and it goes.
};
// The example's own slice of Psum(x).
Tensor PsumScatter(const Operand& x, const std::string& axis, const PsumScatterOptions& options = {});

// Sends slice i along `split_dim` to example i, and puts the slices received side by side along `concat_dim`.
// The size of `split_dim` is the number of examples; it goes, and `concat_dim` is a new dimension. With
// `tiled`, a multiple of it: `split_dim` keeps a part, and `concat_dim` grows.
Tensor AllToAll(const Operand& x, const std::string& axis, int64_t split_dim, int64_t concat_dim,
                bool tiled = false);
// Swaps the axis with dimension `dim`, whose size is the number of examples.
Tensor Pswapaxes(const Operand& x, const std::string& axis, int64_t dim);

}  // namespace hlod
