// Functions with custom derivatives, as jax.custom_vjp and jax.custom_jvp.
#pragma once

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/transform/function.h"

namespace hlod {
// Returns f with a custom gradient: backward(residuals, cotangent) -> std::tuple of the arguments'
// cotangents, where forward(args...) -> std::pair(f's result, residuals) runs in place of f. The cotangent is
// a tree like f's result. Cotangents of integers are ignored. Forward mode is refused. jax.custom_vjp.
//   const auto clipped = CustomVjp(f, [](const Tensor& x) { return std::pair(f(x), x); },
//                                  [](const Tensor& x, const Tensor& ct) { return std::tuple(Clamp(ct, -1,
//                                  1)); });
template <typename F, typename Forward, typename Backward>
auto CustomVjp(F f, Forward forward, Backward backward, Caller caller = Caller::Here()) {
  return [f = std::move(f), forward = std::move(forward), backward = std::move(backward),
          caller]<typename... Args>(const Args&... args) {
    using Arguments = std::tuple<Args...>;
    using R = std::decay_t<decltype(f(args...))>;
    using Both = std::decay_t<decltype(forward(args...))>;
    const Arguments arguments(args...);
    lazy::CustomCallee callee{lazy::CustomCallee::Kind::kVjp};
    TracedCall<Arguments> primal("custom_vjp", arguments, caller);
    const R result = std::apply(f, primal.arguments());
    callee.f = primal.Finish(result);
    TracedCall<Arguments> first("custom_vjp", arguments, caller);
    const Both both = std::apply(forward, first.arguments());
    lazy::CheckRule("custom_vjp", Flatten(both.first), LeafPaths(both.first, "forward"), Flatten(result),
                    LeafPaths(result, "result"), caller);
    callee.forward = first.Finish(both);
    using Residuals = typename Both::second_type;
    const std::pair<Residuals, R> given(both.second, result);
    TracedCall<std::pair<Residuals, R>> second("custom_vjp", given, caller);
    const Arguments cotangents(backward(second.arguments().first, second.arguments().second));
    lazy::CheckRule("custom_vjp", Flatten(cotangents), LeafPaths(cotangents, "cotangent"), Flatten(arguments),
                    LeafPaths(arguments, "argument"), caller);
    callee.backward = second.Finish(cotangents);
    return WithLeaves(result, lazy::CallCustom(callee, Leaves(arguments), caller));
  };
}

// Returns f with a custom derivative: rule(primals, tangents) -> std::pair(f's result, its tangent). Both
// arguments are tuples of f's arguments. The result's tangent must be linear in the tangents, so that the
// rule serves reverse mode, too. jax.custom_jvp.
template <typename F, typename Rule>
auto CustomJvp(F f, Rule rule, Caller caller = Caller::Here()) {
  return [f = std::move(f), rule = std::move(rule), caller]<typename... Args>(const Args&... args) {
    using Arguments = std::tuple<Args...>;
    using R = std::decay_t<decltype(f(args...))>;
    const Arguments arguments(args...);
    lazy::CustomCallee callee{lazy::CustomCallee::Kind::kJvp};
    TracedCall<Arguments> primal("custom_jvp", arguments, caller);
    const R result = std::apply(f, primal.arguments());
    callee.f = primal.Finish(result);
    const std::pair<Arguments, Arguments> given(arguments, arguments);
    TracedCall<std::pair<Arguments, Arguments>> both("custom_jvp", given, caller);
    const std::pair<R, R> derivative(rule(both.arguments().first, both.arguments().second));
    for (const R* part : {&derivative.first, &derivative.second}) {
      lazy::CheckRule("custom_jvp", Flatten(*part), LeafPaths(*part, "rule"), Flatten(result),
                      LeafPaths(result, "result"), caller);
    }
    callee.forward = both.Finish(derivative);
    return WithLeaves(result, lazy::CallCustom(callee, Leaves(arguments), caller));
  };
}

}  // namespace hlod
