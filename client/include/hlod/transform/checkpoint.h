// Checkpoint: what of a function is kept for its gradient, and what is computed again.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/transform/function.h"

namespace hlod {

// What may be kept beside the arguments and results.
struct CheckpointPolicy {
  bool everything = false;         // As without Checkpoint().
  bool dots = false;               // Matrix products.
  std::vector<std::string> names;  // What CheckpointName() names.

  static CheckpointPolicy Everything() { return {.everything = true}; }
  static CheckpointPolicy Nothing() { return {}; }
  static CheckpointPolicy Dots() { return {.dots = true}; }
  static CheckpointPolicy Names(std::vector<std::string> names) { return {.names = std::move(names)}; }
};

// x, by a name that a policy may keep it by.
Tensor CheckpointName(const Operand& x, const std::string& name);

namespace lazy {
std::vector<Tensor> CallCheckpointed(const Traced& traced, const std::vector<Tensor>& arguments,
                                     const CheckpointPolicy& policy, const Caller& caller);
}  // namespace lazy

// f, whose gradient, by Grad() and by Backward(), computes again what the policy does not keep. The second
// computation is behind a barrier, so that no compiler merges it with the first.
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
