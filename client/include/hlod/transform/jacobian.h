// Jacobians and Hessians, as in JAX: the derivatives of each element of a function's result by each element
// of an argument. All rows, or all columns, are computed together, as a batch.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/ops/creation.h"
#include "hlod/transform/transform.h"
#include "hlod/transform/vmap.h"

namespace hlod {
// Returns a function of the same arguments that computes the derivatives of f's result, a Tensor, by argument
// `Argument`: a tree like the argument, each leaf of the shape [result's dimensions..., leaf's
// dimensions...]. Works in reverse mode, which is best when the result is smaller than the argument.
// jax.jacrev.
//   Tensor j = Jacrev([](const Tensor& x) { return Sin(x) * x; })(x);
//   Tensor by_w = Jacrev<1>(f)(x, w);
template <size_t Argument = 0, typename F>
auto Jacrev(F f, Caller caller = Caller::Here()) {
  return [f = std::move(f), caller]<typename... Args>(const Args&... args) {
    const std::tuple<Args...> all(args...);
    const auto& x = std::get<Argument>(all);
    const auto [y, pull] = Vjp(lazy::OfArgument<Argument>(f, all), std::make_tuple(x), caller);
    std::vector<Tensor> rows;
    if (y.numel() > 0) {
      rows = Leaves(Vmap([&pull = pull](const Tensor& row) { return std::get<0>(pull(row)); }, {},
                         caller)(lazy::UnitVectors(y, caller)));
    }
    std::vector<Tensor> results;
    for (const Tensor& leaf : Leaves(x)) {
      const Dims dims = lazy::JoinedDims(y.dims(), leaf.dims());
      results.push_back(rows.empty() ? Zeros(dims, {.type = leaf.dtype(), .device = leaf.device()}, caller)
                                     : rows[results.size()].Reshape(dims, caller));
    }
    return WithLeaves(x, results);
  };
}

// Like Jacrev in forward mode, which is best when the argument is smaller than the result. jax.jacfwd.
template <size_t Argument = 0, typename F>
auto Jacfwd(F f, Caller caller = Caller::Here()) {
  return [f = std::move(f), caller]<typename... Args>(const Args&... args) {
    const std::tuple<Args...> all(args...);
    const auto& x = std::get<Argument>(all);
    const auto of_x = lazy::OfArgument<Argument>(f, all);
    const std::vector<Tensor> leaves = Leaves(x);
    std::vector<Tensor> results;
    for (size_t i = 0; i < leaves.size(); ++i) {
      std::vector<Tensor> tangents;
      for (const Tensor& leaf : leaves) tangents.push_back(ZerosLike(leaf));
      const auto along = [&](const Tensor& column) {
        std::vector<Tensor> tangent = tangents;
        tangent[i] = column;
        return Jvp(of_x, std::make_tuple(x), std::make_tuple(WithLeaves(x, tangent)), caller).second;
      };
      if (leaves[i].numel() == 0) {
        const Tensor y = of_x(x);
        results.push_back(Zeros(lazy::JoinedDims(y.dims(), leaves[i].dims()),
                                {.type = y.dtype(), .device = y.device()}, caller));
        continue;
      }
      const Tensor columns = Vmap(along, {.out = -1}, caller)(lazy::UnitVectors(leaves[i], caller));
      Dims dims = columns.dims();
      dims.pop_back();
      results.push_back(columns.Reshape(lazy::JoinedDims(dims, leaves[i].dims()), caller));
    }
    return WithLeaves(x, results);
  };
}

// Returns a function of the same arguments that computes the second derivatives of f's result by argument
// `Argument`, a Tensor: [result's dimensions..., argument's dimensions..., argument's dimensions...].
// jax.hessian.
template <size_t Argument = 0, typename F>
auto Hessian(F f, Caller caller = Caller::Here()) {
  return Jacfwd<Argument>(Jacrev<Argument>(std::move(f), caller), caller);
}

}  // namespace hlod
