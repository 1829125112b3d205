// Checkpoint: chooses the values of a function that are kept for its gradient; the others are recomputed.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/transform/function.h"

namespace hlod {

// The values that are kept, besides the arguments and results.
struct CheckpointPolicy {
  bool everything = false;         // All values, as without Checkpoint().
  bool dots = false;               // The matrix products.
  std::vector<std::string> names;  // The values with these names (CheckpointName).

  static CheckpointPolicy Everything() { return {.everything = true}; }
  static CheckpointPolicy Nothing() { return {}; }
  static CheckpointPolicy Dots() { return {.dots = true}; }
  static CheckpointPolicy Names(std::vector<std::string> names) { return {.names = std::move(names)}; }
};

// Returns x under a name, by which a policy can keep it.
Tensor CheckpointName(const Operand& x, const std::string& name);

// Returns a function that computes f, and whose gradient (by Grad() or Backward()) recomputes the values that
// the policy does not keep. A barrier keeps compilers from merging the recomputation with the first
// computation. jax.checkpoint.
template <typename F>
auto Checkpoint(F f, CheckpointPolicy policy = {}, Caller caller = Caller::Here()) {
  return [f = std::move(f), policy = std::move(policy), caller]<typename... Args>(const Args&... args) {
    const std::tuple<Args...> arguments(args...);
    TracedCall call("checkpoint", arguments, caller);
    const auto results = std::apply(f, call.arguments());
    const std::shared_ptr<const lazy::Traced> traced = call.Finish(results);
    return WithLeaves(results, lazy::CallCheckpointed(*traced, Leaves(arguments), policy, caller));
  };
}

}  // namespace hlod
