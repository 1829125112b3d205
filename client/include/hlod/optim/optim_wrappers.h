// Optimizers that wrap optimizers, as in Optax: for a part of the parameters, one per kind of parameter,
// every few steps, or with hyperparameters in the state.
//
//   // Matrices by Muon's rule, the rest by Adam, the embedding not at all.
//   auto labels = optim::PerLeaf(params, [](const std::string& path, const Tensor& leaf) -> std::string {
//     if (path.find("embedding") != path.npos) return "fixed";
//     return leaf.rank() == 2 ? "matrix" : "other";
//   });
//   auto optimizer = optim::MultiTransform(
//       {{"fixed", optim::SetToZero()}, {"matrix", muon}, {"other", optim::Adam(1e-3)}}, labels);
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/optim/optim.h"

namespace hlod::optim {

// Returns f(path, leaf) for each defined leaf of a tree, as a list for a mask or for labels.
template <typename T, typename F>
auto PerLeaf(const T& params, F f) {
  const std::vector<std::string> paths = LeafPaths(params);
  const std::vector<Tensor> leaves = Leaves(params);
  std::vector<decltype(f(paths[0], leaves[0]))> values;
  for (size_t i = 0; i < leaves.size(); ++i) values.push_back(f(paths[i], leaves[i]));
  return values;
}

// Applies `inner` to the selected leaves only, as if there were no others. The updates of the others stay as
// they are.
Optimizer Masked(const Optimizer& inner, const Mask& mask);
// Updates each leaf by the optimizer of its label. Init() and Update() throw for a label without an
// optimizer.
Optimizer MultiTransform(const std::map<std::string, Optimizer>& optimizers,
                         const OfLeaves<std::string>& labels);
// Optax's current name for MultiTransform.
Optimizer Partition(const std::map<std::string, Optimizer>& optimizers, const OfLeaves<std::string>& labels);
// Sets updates to 0, so that parameters stay.
Optimizer SetToZero();

// A rule for gradients that MultiSteps() is to pass over, called with the updates, the count of steps of the
// inner optimizer (s32) and the parameters. Returns a scalar of pred, true to pass over, and after it what is
// to be read from the state. It must leave undefined updates out.
using SkipRule = std::function<std::vector<Tensor>(const std::vector<Tensor>& updates, const Tensor& step,
                                                   const std::vector<Tensor>& params)>;
// optax.skip_not_finite: passes over updates with an infinity or a NaN. Returns their number (s32), too.
std::vector<Tensor> SkipNotFinite(const std::vector<Tensor>& updates, const Tensor& step,
                                  const std::vector<Tensor>& params);
// optax.skip_large_updates: passes over updates whose squared global norm is not below `max_squared_norm`.
// The rule returns the squared norm, too.
SkipRule SkipLargeUpdates(const Number& max_squared_norm);

// Applies `inner` to the mean (or sum) of the gradients of every_k steps; the updates in between are 0. A
// schedule counts the steps of `inner`. Gradients that `should_skip` passes over change nothing, and their
// updates are 0; the tensors that the rule returned last stand at the end of the state's first list. Init()
// and Update() throw when the first of them is not a scalar of pred.
Optimizer MultiSteps(const Optimizer& inner, Rate every_k, bool use_grad_mean = true,
                     SkipRule should_skip = {}, Caller caller = Caller::Here());

// Returns the optimizer that `make` builds from hyperparameters that are tensors in the state: they can be
// changed without a new trace, and read back. A hyperparameter with a schedule is set before each step.
//
//   auto optimizer = optim::InjectHyperparams(
//       [](const std::map<std::string, optim::Rate>& h) {
//         return optim::AdamW(h.at("learning_rate"), 1e-2, {.b1 = h.at("b1")});
//       },
//       {{"learning_rate", 1e-3}, {"b1", optim::LinearSchedule(.8, .9, 100)}});
//   optim::State state = optimizer.Init(params);
//   optim::Hyperparam(optimizer, state, "learning_rate") = Full({}, 1e-4, {.device = device});
//
// Any setting that is a Number or a Rate may be one of them. `make` is called at each update and must return
// the same chain of transformations. Update() throws when a hyperparameter that was changed is not a scalar.
Optimizer InjectHyperparams(std::function<Optimizer(const std::map<std::string, Rate>&)> make,
                            const std::map<std::string, Rate>& hyperparams);
// Returns the hyperparameter of that name in the state of an optimizer that InjectHyperparams() made, or of a
// chain with one: a scalar of f32, or f64 when the first parameter is f64. Throws when there is none, naming
// those that exist.
Tensor& Hyperparam(const Optimizer& optimizer, State& state, const std::string& name,
                   Caller caller = Caller::Here());

// Fast parameters, of which gradients are taken, and the slow ones that are used afterwards.
template <typename T>
struct LookaheadParams {
  T fast, slow;
};
// Returns a pair of equal trees: the first parameters, and the gradients of the fast ones as Update() takes
// them. optax.LookaheadParams.init_synced.
template <typename T>
LookaheadParams<T> Synced(const T& tree) {
  return {tree, tree};
}
// Makes steps of `fast` (Zhang et al., 2019). In every sync_period-th of them the slow parameters go
// slow_step_size of the way to the fast ones, which then begin again from there; with `reset_state`, from the
// first state of `fast`, too. Gradients of the slow parameters are ignored.
//
//   auto optimizer = optim::Lookahead(optim::Sgd(1e-2), 5, 0.5);
//   auto params = optim::Synced(weights);
//   auto state = optimizer.Init(params);
//   auto [updates, next] = optimizer.Update(optim::Synced(grads_at(params.fast)), state, params);
//   params = optim::ApplyUpdates(params, updates);
Optimizer Lookahead(const Optimizer& fast, int64_t sync_period, const Number& slow_step_size,
                    bool reset_state = false, Caller caller = Caller::Here());

// A measurement of the updates at a place of a chain, undefined ones left out.
class Measure {
 public:
  using Function = std::function<Tensor(const std::vector<Tensor>& updates)>;
  Measure(Function function) : function_(std::move(function)) {}  // NOLINT: implicit.
  template <typename F>
  requires std::is_invocable_r_v < Tensor, F, const std::vector<Tensor>
  & > Measure(F function)  // NOLINT
      : function_(std::move(function)) {}

 private:
  friend class MonitorLink;
  friend Measure MeasureWithEma(Measure measure, double decay, bool debias, Caller caller);
  Function function_;
  std::optional<double> decay_;  // nullopt for the last value alone.
  bool debias_ = true;
};
// The exponential moving average of a measurement, in the type of Ema(): f32 when it is an integer or a bool.
Measure MeasureWithEma(Measure measure, double decay, bool debias = true, Caller caller = Caller::Here());
// Keeps measurements of the updates, which stay as they are. optax.monitor.
//   auto optimizer = optim::Chain({optim::Monitor({{"norm", optim::GlobalNormOf}}), optim::Adam(1e-3)});
Optimizer Monitor(const std::map<std::string, Measure>& measures);
// Returns the measurement of that name in the state of a chain with Monitor(); 0 before the first update.
// Throws when there is none, naming those that exist.
const Tensor& Measurement(const Optimizer& optimizer, const State& state, const std::string& name,
                          Caller caller = Caller::Here());

}  // namespace hlod::optim
