// Functions over the slices of tensors that need no order, unlike Scan (hlod/transform/control.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/transform/control.h"
#include "hlod/transform/tree.h"
#include "hlod/transform/vmap.h"

namespace hlod {

struct AssociativeScanOptions {
  bool reverse = false;  // Combines each slice with those after it, instead of those before it.
  int64_t dim = 0;       // The dimension of the slices, counted from the end when negative.
};
struct MapOptions {
  int64_t batch_size = 0;  // The number of slices that are computed together, as Vmap() does; 0: one.
};

// Returns every prefix of the slices combined by f(a, b) -> c, which must be associative. For n slices it
// takes O(log n) calls of f, each on many slices at once. f takes and returns trees like `xs`, whose leaves
// have any size along the dimension. jax.lax.associative_scan.
//   Tensor products = AssociativeScan([](const Tensor& a, const Tensor& b) { return MatMul(a, b); },
//   matrices);
template <typename F, typename Xs>
Xs AssociativeScan(F f, const Xs& xs, AssociativeScanOptions options = {}, Caller caller = Caller::Here()) {
  const lazy::Leafwise leafwise = [&](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return Leaves(f(WithLeaves(xs, a), WithLeaves(xs, b)));
  };
  return WithLeaves(xs,
                    lazy::CallAssociativeScan(leafwise, Leaves(xs), LeafPaths(xs, "xs"), options, caller));
}

// Returns f(x) for each slice x of `xs` along dimension 0, stacked. It is one loop in the program, with one
// slice per iteration, or `batch_size` of them. x and the result are trees. jax.lax.map.
template <typename F, typename Xs>
auto Map(F f, const Xs& xs, MapOptions options = {}, Caller caller = Caller::Here()) {
  const auto loop = [&](const auto& body, const Xs& over) {
    const auto step = [&body](const std::tuple<>& none, const Xs& x) { return std::pair(none, body(x)); };
    return Scan(step, std::tuple<>(), over, {}, caller).second;
  };
  const std::vector<Tensor> leaves = Leaves(xs);
  const int64_t count = lazy::CheckMap(leaves, LeafPaths(xs, "xs"), options.batch_size, caller);
  if (options.batch_size == 0) return loop(f, xs);
  const int64_t size = options.batch_size, batches = count / size;
  const auto together = Vmap(f, {}, caller);
  if (batches == 0 && count > 0) return together(xs);
  const auto whole = loop(together, WithLeaves(xs, lazy::Batches(leaves, batches, size, caller)));
  std::vector<Tensor> rest;
  if (count > batches * size)
    rest = Leaves(together(WithLeaves(xs, lazy::Rest(leaves, batches * size, caller))));
  return WithLeaves(whole, lazy::Together(Leaves(whole), rest, caller));
}

}  // namespace hlod
