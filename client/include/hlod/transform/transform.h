// Derivatives of functions over trees of tensors, in forward and reverse mode, as function transforms like
// those of JAX. They compose with one another and with Jit: Grad(Grad(f)), Jit(ValueAndGrad(f)).
//
// At points where a function has no unique derivative, operations on tensors follow PyTorch and loaded
// programs follow JAX: hlod/transform/foreign_kinks.inc has the table.
//
// The gradient by a complex argument z = x + iy is df/dx - i df/dy, as in JAX. Backward() and Gradients()
// return its conjugate, as PyTorch does.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/transform/function.h"

namespace hlod {
// Returns a function of the same arguments that returns {f's result, the gradient of f's value}. The gradient
// is a tree like argument 0, or a tuple of trees like the arguments that are named, as in ValueAndGrad<0,
// 2>(f). f returns its value, a floating tensor of one element, or a pair of the value and other results.
//   auto step = Jit(ValueAndGrad([](const Params& p, const Tensor& x) { ... }));
//   auto [value, gradient] = step(params, x);
template <size_t... Arguments, typename F>
auto ValueAndGrad(F f, Caller caller = Caller::Here()) {
  using Which = std::conditional_t<sizeof...(Arguments) == 0, std::index_sequence<0>,
                                   std::index_sequence<Arguments...>>;
  return [f = std::move(f), caller]<typename... Args>(const Args&... args) {
    TracedCall call("grad", std::tuple<Args...>(args...), caller);
    auto result = std::apply(f, call.arguments());
    using R = std::decay_t<decltype(result)>;
    const Tensor value = lazy::Aux<R>::Value(result);
    const auto by = lazy::Picked(call.arguments(), Which{});
    const std::vector<Tensor> gradients = lazy::AppendVjp(
        "grad", {value}, {lazy::Seed("grad", value, caller)}, Leaves(by), LeafPaths(by, "argument"), caller);
    return call.Return(std::pair(std::move(result), WithLeaves(by, gradients)));
  };
}

// Like ValueAndGrad, but returns the gradient alone; when f has other results, {gradient, other results}.
template <size_t... Arguments, typename F>
auto Grad(F f, Caller caller = Caller::Here()) {
  return [both = ValueAndGrad<Arguments...>(std::move(f), caller)](const auto&... args) {
    auto [result, gradient] = both(args...);
    if constexpr (lazy::Aux<decltype(result)>::kHas) return std::pair(gradient, result.second);
    else return gradient;
  };
}

// Returns {f(primals...), its derivative in the direction of the tangents, a tree like the result}. Primals
// and tangents are tuples of f's arguments: Jvp(f, std::tuple(x, y), std::tuple(dx, dy)).
template <typename F, typename Primals>
auto Jvp(const F& f, const Primals& primals, const Primals& tangents, Caller caller = Caller::Here()) {
  TracedCall call("jvp", std::pair(primals, tangents), caller);
  auto result = std::apply(f, call.arguments().first);
  return call.Return(WithLeaves(std::pair(result, result),
                                lazy::AppendJvp("jvp", Leaves(result), Leaves(call.arguments().first),
                                                Leaves(call.arguments().second), caller)));
}

// Returns {f(primals...), a function from a cotangent, which is a tree like the result, to a tuple of the
// arguments' cotangents}. The function may be called repeatedly: it keeps the values of f that it needs.
template <typename F, typename... Args>
auto Vjp(F f, const std::tuple<Args...>& primals, Caller caller = Caller::Here()) {
  TracedCall call("vjp", primals, caller);
  auto result = std::apply(f, call.arguments());
  using R = decltype(result);
  std::vector<Tensor> residuals;
  const auto linear = lazy::Transposed("vjp", Leaves(result), Leaves(call.arguments()),
                                       LeafPaths(primals, "argument"), residuals, caller);
  std::pair<R, std::vector<Tensor>> both = call.Return(std::pair(std::move(result), std::move(residuals)));
  auto pull = [linear, kept = std::move(both.second), primals, caller](const R& cotangent) {
    return WithLeaves(primals,
                      lazy::CallTransposed(*linear, Leaves(primals), Leaves(cotangent), kept, caller));
  };
  return std::pair(std::move(both.first), std::move(pull));
}

// Returns {f(primals...), its derivative as a function from tangents, a tuple like `primals`, to a tree like
// the result}. The derivative is linear, and cheaper than Jvp() when it is called often, because the values
// of f that it needs are computed once. Vjp() must be able to differentiate f. jax.linearize.
template <typename F, typename... Args>
auto Linearize(F f, const std::tuple<Args...>& primals, Caller caller = Caller::Here()) {
  // The transpose of the transpose.
  auto [y, pull] = Vjp(std::move(f), primals, caller);
  using R = std::decay_t<decltype(y)>;
  const auto zero = std::make_tuple(WithLeaves(y, lazy::ZerosOf(Leaves(y), caller)));
  auto push =
      Vjp([pull = std::move(pull)](const R& cotangent) { return pull(cotangent); }, zero, caller).second;
  auto linear = [push = std::move(push)](const std::tuple<Args...>& tangents) {
    return std::get<0>(push(tangents));
  };
  return std::pair(std::move(y), std::move(linear));
}

// Returns the shapes and types of f(primals...) as a tree of placeholders, without computing or sending
// anything. The arguments may be placeholders. jax.eval_shape.
template <typename F, typename Primals>
auto EvalShape(const F& f, const Primals& primals, Caller caller = Caller::Here()) {
  const TracedCall call("eval_shape", primals, caller);
  const auto result = std::apply(f, call.arguments());
  return WithLeaves(result, lazy::PlaceholdersLike(Leaves(result), caller));
}

}  // namespace hlod
