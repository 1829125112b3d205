// A training step: gradients and update as one program, which gives the old parameters' memory to the new.
#pragma once

#include <type_traits>
#include <utility>

#include "hlod/checkpoint.h"
#include "hlod/jit.h"
#include "hlod/nn/module.h"
#include "hlod/optim.h"
#include "hlod/transform.h"

namespace hlod {

template <typename Params>
struct TrainResult {
  Tensor loss;
  Params params;
  optim::State state;
};

namespace lazy {

template <typename Model>
auto ModelFunction(const Model& model) {
  if constexpr (std::is_base_of_v<nn::Module, Model>) {
    return
        [&model](const nn::StateDict& params, const auto& x) { return nn::FunctionalCall(model, params, x); };
  } else {
    return model;
  }
}

}  // namespace lazy

// step(params, state, x, target) -> TrainResult: loss(model(params, x), target), its gradient by params, and
// optimizer's update. Runs model and loss once a signature. params and state are given up by the call: using
// them afterwards throws an error of kind donated. What `remat` does not keep of the model is computed again
// for the gradient.
//
//   auto step = MakeTrainStep(model, loss, optim::Adam(1e-3), CheckpointPolicy::Dots());
//   auto [loss, params, state] = step(params, state, x, target);
//
// A model that is an nn::Module must outlive the step; its params are TrainParams(model), which share their
// memory with the module's own. What else it has (buffers) is captured.
template <typename Model, typename Loss>
auto MakeTrainStep(const Model& model, Loss loss, optim::Optimizer optimizer,
                   CheckpointPolicy remat = CheckpointPolicy::Everything(), Caller caller = Caller::Here()) {
  auto run = [apply = Checkpoint(lazy::ModelFunction(model), std::move(remat), caller),
              loss = std::move(loss)](const auto& params, const auto& x, const auto& target) {
    return loss(apply(params, x), target);
  };
  auto step = [both = ValueAndGrad(std::move(run), caller), optimizer = std::move(optimizer)](
                  const auto& params, const optim::State& state, const auto& x, const auto& target) {
    auto [value, gradient] = both(params, x, target);
    auto [updates, next] = optimizer.Update(gradient, state, params);
    return TrainResult<std::decay_t<decltype(params)>>{value, optim::ApplyUpdates(params, updates),
                                                       std::move(next)};
  };
  return Jit(std::move(step), {.donate = {0, 1}}, caller);
}

// The parameters of a module by name, as a tree for a training step.
inline nn::StateDict TrainParams(const nn::Module& module) {
  nn::StateDict params;
  for (const auto& [name, tensor] : module.NamedParameters()) params[name] = tensor.Detach();
  return params;
}

}  // namespace hlod
