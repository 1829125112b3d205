// Control flow on devices: loops and branches whose bodies are traced once, and run inside one program.
//
// Bodies are C++ functions of trees (hlod/transform/tree.h). They are traced when the function is called:
// tracing does not send anything, a body may work on placeholders, and a captured tensor becomes an input of
// the loop. Reading a value in a body, and updating a captured tensor in place, throw an Error with the line.
// Bodies nest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/transform/function.h"
#include "hlod/transform/tree.h"

namespace hlod {

struct ScanOptions {
  // Runs from the last slice to the first; each output is at the position of its input.
  bool reverse = false;
};

// Calls f(carry, x) -> std::pair(carry, y) for each slice x of `xs` along dimension 0, in order. Returns the
// last carry, and the ys stacked along dimension 0. Carry, x and y are trees. Every leaf of `xs` must have
// the same first size, which may be 0; the carry must keep its structure, shapes and types. jax.lax.scan,
// torch_xla.experimental.scan.
//   auto [h, outputs] = hlod::Scan(cell, h0, inputs);
template <typename F, typename Carry, typename Xs>
auto Scan(F f, const Carry& init, const Xs& xs, ScanOptions options = {}, Caller caller = Caller::Here()) {
  lazy::ScanInputs inputs{Leaves(init), Leaves(xs), LeafPaths(init, "carry"), LeafPaths(xs, "xs"), 0, caller};
  const std::vector<Tensor> slices = lazy::SlicesOf(inputs);
  const std::tuple<Carry, Xs> arguments(init, WithLeaves(xs, slices));
  TracedCall<std::tuple<Carry, Xs>> call("scan", arguments, caller);
  auto results = f(std::get<0>(call.arguments()), std::get<1>(call.arguments()));
  using Y = std::decay_t<decltype(results.second)>;
  const std::pair<Carry, Y> typed(std::move(results.first), std::move(results.second));
  const Flattened given = Flatten(init);
  lazy::CheckCarry("scan", given, inputs.carry_paths, Flatten(typed.first), LeafPaths(typed.first, "carry"),
                   caller);
  const auto body = call.Finish(typed);
  std::vector<Tensor> all = lazy::CallScan(*body, inputs, options.reverse);
  const auto carries = static_cast<ptrdiff_t>(given.leaves.size());
  return std::pair<Carry, Y>(WithLeaves(init, std::vector<Tensor>(all.begin(), all.begin() + carries)),
                             WithLeaves(typed.second, std::vector<Tensor>(all.begin() + carries, all.end())));
}

// Calls f(layer, x) -> x for each of `layers`, in order, as one loop: the program does not grow with their
// number. Layers are trees of one structure, with leaves of equal shapes and types; x must keep its
// structure, shapes and types.
//   x = hlod::ScanLayers(block, layers, x);
template <typename F, typename Layer, typename X>
X ScanLayers(F f, const std::vector<Layer>& layers, const X& x, ScanOptions options = {},
             Caller caller = Caller::Here());

// Repeats body(carry) -> carry while condition(carry), a pred scalar, is true; returns the last carry. Jvp()
// can differentiate it; reverse mode cannot. jax.lax.while_loop.
template <typename Condition, typename F, typename Carry>
Carry While(Condition condition, F body, const Carry& init, Caller caller = Caller::Here()) {
  const Flattened given = Flatten(init);
  const std::vector<std::string> paths = LeafPaths(init, "carry");
  const std::tuple<Carry> arguments(init);
  std::shared_ptr<const lazy::Traced> test, step;
  {
    TracedCall<std::tuple<Carry>> call("while", arguments, caller);
    test = call.Finish(std::tuple<Tensor>(condition(std::get<0>(call.arguments()))));
  }
  {
    TracedCall<std::tuple<Carry>> call("while", arguments, caller);
    const Carry next = body(std::get<0>(call.arguments()));
    lazy::CheckCarry("while", given, paths, Flatten(next), LeafPaths(next, "carry"), caller);
    step = call.Finish(next);
  }
  return WithLeaves(init, lazy::CallWhile(*test, *step, given.leaves, caller));
}

// Repeats body(i, carry) -> carry for i (an s64 scalar) from `lower` to `upper` - 1; returns the last carry.
// The trip count is known, so reverse mode can differentiate it. jax.lax.fori_loop.
template <typename F, typename Carry>
Carry ForiLoop(int64_t lower, int64_t upper, F body, const Carry& init, Caller caller = Caller::Here());

// Returns the result of one of two functions of the same arguments; only that one runs. Their results must
// have the same structure, shapes and types. jax.lax.cond.
//   y = hlod::Cond(norm > 1, [](const Tensor& x) { return x / 2; }, [](const Tensor& x) { return x; }, x);
template <typename True, typename False, typename... Args>
auto Cond(const Operand& predicate, True on_true, False on_false, const Args&... args);

// Returns the result of branches[index]; only that one runs. `index` is an s32 or s64 scalar, and is clamped
// to the branches. jax.lax.switch.
template <typename F, typename... Args>
auto Switch(const Operand& index, const std::vector<F>& branches, const Args&... args);

template <typename F, typename Layer, typename X>
X ScanLayers(F f, const std::vector<Layer>& layers, const X& x, ScanOptions options, Caller caller) {
  if (layers.empty()) return x;
  std::vector<Flattened> flat;
  std::vector<std::vector<std::string>> paths;
  for (const Layer& layer : layers) {
    flat.push_back(Flatten(layer));
    paths.push_back(LeafPaths(layer, "layer"));
  }
  const Layer stacked = WithLeaves(layers[0], lazy::StackLayers(flat, paths, caller));
  const auto body = [&f](const X& carry, const Layer& layer) {
    return std::pair<X, std::tuple<>>(f(layer, carry), std::tuple<>());
  };
  return Scan(body, x, stacked, options, caller).first;
}

template <typename F, typename Carry>
Carry ForiLoop(int64_t lower, int64_t upper, F body, const Carry& init, Caller caller) {
  if (upper <= lower) return init;
  const Tensor counter = lazy::Counter(lower, upper - lower, Leaves(init), caller);
  const auto step = [&body](const Carry& carry, const Tensor& i) {
    return std::pair<Carry, std::tuple<>>(body(i, carry), std::tuple<>());
  };
  return Scan(step, init, counter, {}, caller).first;
}

template <typename True, typename False, typename... Args>
auto Cond(const Operand& predicate, True on_true, False on_false, const Args&... args) {
  using R = std::decay_t<std::invoke_result_t<True&, const Args&...>>;
  const Caller& caller = predicate.caller();
  const std::tuple<Args...> arguments(args...);
  std::optional<R> result;
  const auto first = TracedCall<std::tuple<Args...>>::TraceBranch(on_true, arguments, result, caller);
  const auto second = TracedCall<std::tuple<Args...>>::TraceBranch(on_false, arguments, result, caller);
  return WithLeaves(*result, lazy::CallBranches(predicate, {first, second}, Leaves(arguments)));
}

template <typename F, typename... Args>
auto Switch(const Operand& index, const std::vector<F>& branches, const Args&... args) {
  using R = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;
  const Caller& caller = index.caller();
  const std::tuple<Args...> arguments(args...);
  std::optional<R> result;
  std::vector<std::shared_ptr<const lazy::Traced>> traced;
  for (const F& branch : branches)
    traced.push_back(TracedCall<std::tuple<Args...>>::TraceBranch(branch, arguments, result, caller));
  return WithLeaves(*result, lazy::CallBranches(index, traced, Leaves(arguments)));
}

}  // namespace hlod
