// Vmap: turns a function of single examples into a function of batches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/transform/function.h"

namespace hlod {

// The behaviour of random numbers under Vmap, as in torch.func.
enum class Randomness {
  kError,      // Drawing random numbers throws.
  kSame,       // Every example has the same random numbers.
  kDifferent,  // Each example has its own random numbers.
};

struct VmapOptions {
  // The batch dimension of the tensors of each argument, counted from the end when negative; nullopt for an
  // argument that all examples share. Arguments beyond the list have batch dimension 0; a list longer than
  // the arguments throws.
  std::vector<std::optional<int64_t>> in = {};
  int64_t out = 0;  // The batch dimension of the results.
  Randomness randomness = Randomness::kError;
  // The name by which collectives in the function call the examples (hlod/transform/collectives.h); empty
  // without one. A Vmap inside may have the same name, which then means its own examples.
  std::string axis_name = {};
};

// Returns a function that computes f for every index of a dimension of its arguments, together: one program
// over the batch, not a loop. Results have the batch dimension even when they do not depend on a batched
// argument. jax.vmap.
//   auto per_example = Vmap(Grad(loss), {.in = {std::nullopt, 0}});
template <typename F>
auto Vmap(F f, VmapOptions options = {}, Caller caller = Caller::Here()) {
  return [f = std::move(f), options = std::move(options), caller]<typename... Args>(const Args&... args) {
    const std::tuple<Args...> arguments(args...);
    lazy::CheckListed(options.in.size(), sizeof...(Args), caller);
    std::vector<std::optional<int64_t>> axes;  // The batch dimension of each leaf.
    size_t i = 0;
    const auto add = [&](const auto& argument) {
      const std::optional<int64_t> axis = i < options.in.size() ? options.in[i] : std::optional<int64_t>(0);
      axes.insert(axes.end(), Leaves(argument).size(), axis);
      ++i;
    };
    (add(args), ...);
    std::vector<Tensor> leaves = Leaves(arguments);
    const auto examples =
        WithLeaves(arguments, lazy::FirstExamples(leaves, axes, LeafPaths(arguments, "argument"), caller));
    const std::vector<Tensor> counter = lazy::AxisCounter(options, leaves, axes);
    TracedCall call("vmap", std::tuple_cat(examples, std::tuple(lazy::FirstOfCounter(counter))), caller);
    const auto results = [&]<size_t... I>(std::index_sequence<I...>) {
      const lazy::AxisScope axis(options, counter, std::get<sizeof...(Args)>(call.arguments()));
      return f(std::get<I>(call.arguments())...);
    }(std::index_sequence_for<Args...>{});
    const std::shared_ptr<const lazy::Traced> traced = call.Finish(results);
    leaves.insert(leaves.end(), counter.begin(), counter.end());
    axes.resize(leaves.size(), 0);
    return WithLeaves(results, lazy::CallBatched(*traced, leaves, axes, options, caller));
  };
}

}  // namespace hlod
