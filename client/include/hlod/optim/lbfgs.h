// torch.optim.LBFGS: steps along a direction that the last gradients and moves make of the gradient, for
// small deterministic problems.
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
  int64_t max_iter = 20;            // Iterations of a Step().
  std::optional<int64_t> max_eval;  // Calls of the closure in a Step(): 5/4 of max_iter when absent.
  double tolerance_grad = 1e-7;     // Ends when no element of the gradient is larger;
  double tolerance_change = 1e-9;   // or when no parameter, or the loss, changes by more.
  int64_t history_size = 100;       // Gradients and moves that are kept: each as large as all parameters.
  bool strong_wolfe = false;  // Searches each line until the strong Wolfe conditions hold; else moves by lr.
};

// The parameters are one group, on one device. A Step() reads losses and products back to decide how to go
// on.
class Lbfgs : public ParameterOptimizer {
 public:
  // Throws when lr or a tolerance is negative, or a number of iterations or moves not positive.
  explicit Lbfgs(std::vector<Tensor> parameters, const LbfgsOptions& options = {},
                 Caller caller = Caller::Here());

  // Up to max_iter iterations. The closure drops the gradients, computes the loss, calls Backward() on it and
  // returns it. Returns the loss of its first call.
  Tensor Step(const std::function<Tensor()>& closure, Caller caller = Caller::Here()) override;
  // Throw: the loss must be computed again and again.
  void Step(Caller caller = Caller::Here()) override;
  void StepUnless(const Tensor& skip, Caller caller = Caller::Here()) override;

  int64_t iterations() const { return iterations_; }
  int64_t evaluations() const { return evaluations_; }

  // The settings as those of the other optimizers; the state as "state.d", "state.old_dirs" and so on: what
  // PyTorch calls it.
  std::map<std::string, Tensor> StateDict() const override;
  void LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller = Caller::Here()) override;

 protected:
  double RateOf(size_t) const override { return options_.lr; }
  void SetRate(double lr, size_t) override { options_.lr = lr; }
  std::vector<std::pair<const char*, double>> SettingsOf(size_t group) const override;
  optim::Optimizer RuleOf(const std::vector<double>& settings) const override;
  void TakeSettings(size_t group, const std::vector<double>& settings) override;

 private:
  friend class LbfgsStep;  // client/transform/optimizer/lbfgs.cc

  LbfgsOptions options_;
  int64_t iterations_ = 0, evaluations_ = 0;  // Of all steps.
  // Between steps, flat over all parameters; empty and undefined before the first.
  Tensor direction_, last_gradient_;
  double length_ = 0, last_loss_ = 0;
  std::vector<Tensor> changes_, moves_;  // Of gradients and parameters; a pair each, oldest first.
  std::vector<Tensor> curvatures_;       // 1 / (change . move), scalars.
  Tensor scale_;                         // Of the first approximation of the inverse Hessian.
};

}  // namespace hlod
