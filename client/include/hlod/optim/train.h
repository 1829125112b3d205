// A training step: gradients and update as one program, in which new parameters take the memory of the old
// ones.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hlod/nn/module.h"
#include "hlod/optim/optim.h"
#include "hlod/tensor/autograd.h"
#include "hlod/transform/checkpoint.h"
#include "hlod/transform/jit.h"
#include "hlod/transform/transform.h"

namespace hlod {

template <typename Params>
struct TrainResult {
  Tensor loss;
  Params params;
  optim::State state;
};

namespace lazy {

// Returns the training step of `apply`, a function (parameters, buffers, x) -> {result, changed buffers}.
template <typename Apply, typename Loss>
auto JittedTrainStep(Apply apply, Loss loss, optim::Optimizer optimizer, CheckpointPolicy remat,
                     Caller caller) {
  auto run = [apply = Checkpoint(std::move(apply), std::move(remat), caller), loss = std::move(loss)](
                 const auto& params, const auto& buffers, const auto& x, const auto& target) {
    auto [y, changed] = apply(params, buffers, x);
    return std::pair(Tensor(loss(y, target)), std::move(changed));
  };
  auto step = [both = ValueAndGrad(std::move(run), caller), optimizer = std::move(optimizer)](
                  const auto& params, const optim::State& state, const auto& buffers, const auto& x,
                  const auto& target) {
    auto [result, gradient] = both(params, buffers, x, target);
    auto [updates, next] = optimizer.Update(gradient, state, params);
    return std::pair(
        TrainResult<std::decay_t<decltype(params)>>{result.first, optim::ApplyUpdates(params, updates),
                                                    std::move(next)},
        std::move(result.second));
  };
  return Jit(std::move(step), {.donate = {0, 1}}, caller);
}

// Calls a module on copies of its buffers, which it may change.
template <typename Model>
auto ModuleFunction(Model& model) {
  return [&model](const nn::StateDict& params, const nn::StateDict& buffers, const auto& x) {
    nn::StateDict tensors = params, changed;
    for (const auto& [name, buffer] : buffers) tensors[name] = changed[name] = buffer.Clone();
    std::map<std::string, uint64_t> before;
    for (const auto& [name, buffer] : changed) before[name] = WriteCount(buffer);
    auto y = nn::FunctionalCall(model, tensors, x);
    std::erase_if(changed, [&](const auto& each) { return WriteCount(each.second) == before[each.first]; });
    return std::pair(std::move(y), std::move(changed));
  };
}

template <typename F>
auto PlainFunction(F f) {
  return [f = std::move(f)](const auto& params, const auto&, const auto& x) {
    return std::pair(f(params, x), std::tuple<>());
  };
}

}  // namespace lazy

// The result of MakeTrainStep() for a function of parameters. Copies share the traces.
template <typename Jitted>
class FunctionTrainStep {
 public:
  explicit FunctionTrainStep(Jitted step) : step_(std::move(step)) {}

  template <typename Params, typename X, typename Target>
  TrainResult<Params> operator()(const Params& params, const optim::State& state, const X& x,
                                 const Target& target) const {
    const NoGrad scope;
    optim::Optimizer::PlaceLeaves(Leaves(params), state);
    return step_(params, state, std::tuple<>(), x, target).first;
  }
  // The number of times that model and loss have run: once per signature.
  int traces() const { return step_.traces(); }

 private:
  Jitted step_;
};

// The result of MakeTrainStep() for a module: a step that also updates the module's buffers.
template <typename Model, typename Jitted>
class ModuleTrainStep {
 public:
  ModuleTrainStep(Model& model, Jitted step) : model_(&model), step_(std::move(step)) {}

  template <typename X, typename Target>
  TrainResult<nn::StateDict> operator()(const nn::StateDict& params, const optim::State& state, const X& x,
                                        const Target& target) const {
    const NoGrad scope;
    optim::Optimizer::PlaceLeaves(Leaves(params), state);
    nn::StateDict buffers;
    for (const auto& [name, buffer] : model_->NamedBuffers()) buffers[name] = buffer.Detach();
    auto [result, changed] = step_(params, state, buffers, x, target);
    for (const auto& [name, value] : changed) buffers[name].Copy_(value);
    return std::move(result);
  }
  int traces() const { return step_.traces(); }

 private:
  Model* model_;
  Jitted step_;
};

// step(params, state, x, target) -> TrainResult: loss(model(params, x), target), its gradient by params, and
// optimizer's update. The C++ of model and loss runs once per signature. The call donates params and state:
// using them afterwards throws an error of kind donated. The results are not recorded for Backward(). Values
// of the model that `remat` does not keep are recomputed for the gradient.
//
//   auto step = MakeTrainStep(model, loss, optim::Adam(1e-3), CheckpointPolicy::Dots());
//   auto result = step(params, state, x, target);  // result.loss, result.params, result.state
template <typename Model, typename Loss>
requires(!std::derived_from<Model, nn::Module>) auto MakeTrainStep(
    const Model& model, Loss loss, optim::Optimizer optimizer,
    CheckpointPolicy remat = CheckpointPolicy::Everything(), Caller caller = Caller::Here()) {
  return FunctionTrainStep(lazy::JittedTrainStep(lazy::PlainFunction(model), std::move(loss),
                                                 std::move(optimizer), std::move(remat), caller));
}

// A step for a module, which must outlive it. Its params are TrainParams(model), which share their memory
// with the module's own. The module's buffers are read at each call, and those that the model changes (the
// running mean of a batch norm) are updated in place afterwards, as calling the model does. The step keeps
// the training mode that the module had when it was traced.
//
// Hooks, like all code of the model, run when the step is traced, and not at each call. A tensor that a hook
// puts in the place of another is part of the program; a hook that counts its calls counts one per signature;
// a hook that reads a value is refused; and registering or removing hooks later does not change a step that
// was traced before. To look at tensors in each step, return them from the model, or call the model itself.
template <std::derived_from<nn::Module> Model, typename Loss>
auto MakeTrainStep(Model& model, Loss loss, optim::Optimizer optimizer,
                   CheckpointPolicy remat = CheckpointPolicy::Everything(), Caller caller = Caller::Here()) {
  return ModuleTrainStep(model, lazy::JittedTrainStep(lazy::ModuleFunction(model), std::move(loss),
                                                      std::move(optimizer), std::move(remat), caller));
}

// The parameters of a module by name, as a tree for a training step.
inline nn::StateDict TrainParams(const nn::Module& module) {
  nn::StateDict params;
  for (const auto& [name, tensor] : module.NamedParameters()) params[name] = tensor.Detach();
  return params;
}

}  // namespace hlod
