// torch.optim.LBFGS, for small deterministic problems: steps along a quasi-Newton direction, computed from
// the gradient and the last changes of gradients and parameters.
//
//   hlod::Lbfgs lbfgs(model.Parameters(), {.strong_wolfe = true});
//   lbfgs.Step([&] {
//     lbfgs.ZeroGrad();
//     hlod::Tensor loss = Loss(model(x), y);
//     loss.Backward();
//     return loss;
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hlod/optim/optimizers.h"

namespace hlod {

struct LbfgsOptions {
  double lr = 1;
  int64_t max_iter = 20;  // The maximum number of iterations per Step().
  // The maximum number of calls of the closure per Step(); nullopt: 5/4 of max_iter.
  std::optional<int64_t> max_eval;
  double tolerance_grad = 1e-7;    // A Step() ends when every element of the gradient is at most this.
  double tolerance_change = 1e-9;  // A Step() ends when the parameters, or the loss, change by at most this.
  // The number of pairs of changes that are kept; a pair is twice as large as all parameters. There is memory
  // for all of them from the first step on, so that an iteration is the same program while their number
  // grows.
  int64_t history_size = 100;
  bool strong_wolfe = false;  // Searches each line until the strong Wolfe conditions hold; else moves by lr.
};

// The parameters are one group, on one device. A Step() reads losses and products back, to decide how to
// continue.
class Lbfgs : public ParameterOptimizer {
 public:
  // Throws when lr or a tolerance is negative, or when max_iter, max_eval or history_size is not positive.
  explicit Lbfgs(std::vector<Tensor> parameters, const LbfgsOptions& options = {},
                 Caller caller = Caller::Here());

  // Makes up to max_iter iterations. The closure must drop the gradients, compute the loss, call Backward()
  // on it and return it. Returns the loss of the closure's first call.
  Tensor Step(const std::function<Tensor()>& closure, Caller caller = Caller::Here()) override;
  // Throw, because the loss must be computed several times.
  void Step(Caller caller = Caller::Here()) override;
  void StepUnless(const Tensor& skip, Caller caller = Caller::Here()) override;

  int64_t iterations() const { return iterations_; }
  int64_t evaluations() const { return evaluations_; }

  // Returns the settings under the names that other optimizers use, and the state under PyTorch's names:
  // "state.d", "state.old_dirs" and so on.
  std::map<std::string, Tensor> StateDict() const override;
  void LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller = Caller::Here()) override;

 protected:
  double RateOf(size_t) const override { return options_.lr; }
  void SetRate(double lr, size_t) override { options_.lr = lr; }
  std::vector<std::pair<const char*, double>> SettingsOf(size_t group) const override;
  optim::Optimizer RuleOf(const std::vector<double>& settings) const override;
  void TakeSettings(size_t group, const std::vector<double>& settings) override;

 private:
  friend class LbfgsStep;  // client/transform/optimizer/torch/lbfgs.cc
  void TakeHistory(const std::vector<Tensor>& pairs, const Tensor& like);

  LbfgsOptions options_;
  int64_t iterations_ = 0, evaluations_ = 0;  // The sums over all steps.
  // The state between steps, flattened over all parameters; empty and undefined before the first.
  Tensor direction_, last_gradient_;
  double length_ = 0, last_loss_ = 0;
  // The last changes of gradients and of parameters, a row per pair, and 1 / (change . move) of each, oldest
  // first. Before the `kept_` pairs stand rows of zeros, which add nothing to a direction.
  Tensor changes_, moves_, curvatures_;
  int64_t kept_ = 0;
  Tensor scale_;  // The scale of the first approximation of the inverse Hessian.
};

}  // namespace hlod
