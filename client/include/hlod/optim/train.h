// A training step: gradients and update as one program, which gives the old parameters' memory to the new.
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

// Returns the number of times that the tensor's data was changed in place.
uint64_t WriteCount(const Tensor& tensor);

// The step of a function of parameters, buffers and x to {its result, the buffers that it has changed}.
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

// A module's call on copies of its buffers, which it may change.
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
// optimizer's update. Runs model and loss once a signature. params and state are given up by the call: using
// them afterwards throws an error of kind donated. The results are not remembered for Backward(). What
// `remat` does not keep of the model is computed again for the gradient.
//
//   auto step = MakeTrainStep(model, loss, optim::Adam(1e-3), CheckpointPolicy::Dots());
//   auto result = step(params, state, x, target);  // result.loss, result.params, result.state
template <typename Model, typename Loss>
  requires(!std::derived_from<Model, nn::Module>)
auto MakeTrainStep(const Model& model, Loss loss, optim::Optimizer optimizer,
                   CheckpointPolicy remat = CheckpointPolicy::Everything(), Caller caller = Caller::Here()) {
  return FunctionTrainStep(lazy::JittedTrainStep(lazy::PlainFunction(model), std::move(loss),
                                                 std::move(optimizer), std::move(remat), caller));
}

// The same of a module, which must outlive the step; its params are TrainParams(model), which share their
// memory with the module's own. Its buffers are read at each call, and those that the model changes (the
// running mean of a batch norm) are updated in place after it, as calling the model itself does. Whether the
// module is training is what it was when the step was traced.
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
