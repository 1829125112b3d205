// Optimizers as PyTorch has them: objects that update a model's parameters in place.
//
//   hlod::Adam adam(model.Parameters(), {.lr = 1e-3});
//   loss.Backward();
//   adam.Step();
//   adam.ZeroGrad();
//   hlod::Sync();  // One execute.
//
// Each update is the one of hlod/optim.h, and recorded like any operation: the old parameters and moments are
// donated.
#pragma once

#include <optional>
#include <vector>

#include "hlod/caller.h"
#include "hlod/optim.h"
#include "hlod/tensor.h"

namespace hlod {

struct SgdOptions {
  double lr = 1e-3, momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;  // Times the parameter, added to the gradient.
};
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0;  // Of Adam as of Sgd; of AdamW times lr, taken from the parameter.
};

// What the optimizers share. A parameter without a gradient stays as it is, and its count of steps, too.
class ParameterOptimizer {
 public:
  // Parameters require gradients.
  ParameterOptimizer(std::vector<Tensor> parameters, optim::Optimizer update);

  // Updates the parameters by their gradients.
  void Step(Caller caller = Caller::Here());
  // Drops the gradients.
  void ZeroGrad();

  const std::vector<Tensor>& parameters() const { return parameters_; }

 protected:
  // The same states, another rule: a learning rate that has changed. Does not compile again.
  void Replace(optim::Optimizer update) { update_ = std::move(update); }

 private:
  std::vector<Tensor> parameters_;
  std::vector<std::optional<optim::State>> states_;  // Of each parameter, from its first gradient on.
  optim::Optimizer update_;
};

// torch.optim.SGD.
class Sgd : public ParameterOptimizer {
 public:
  explicit Sgd(std::vector<Tensor> parameters, const SgdOptions& options = {});
  void SetLearningRate(double lr);

 private:
  SgdOptions options_;
};

// torch.optim.Adam.
class Adam : public ParameterOptimizer {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});
  void SetLearningRate(double lr);

 private:
  AdamOptions options_;
};

// torch.optim.AdamW. PyTorch's weight_decay is 1e-2 unless it is given.
class AdamW : public ParameterOptimizer {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamOptions& options = {.weight_decay = 1e-2});
  void SetLearningRate(double lr);

 private:
  AdamOptions options_;
};

}  // namespace hlod
