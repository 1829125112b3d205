// The softmax of many classes of which few are frequent (Grave et al., 2017).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlod/nn/containers.h"
#include "hlod/nn/layers.h"

namespace hlod::nn {

// Classes are numbered by frequency. The first cutoffs[0] of them are in the head, those from each cutoff to
// the next in a tail of its own, whose width is the size divided by div_value once more per tail. Every tail
// is computed for every row, where PyTorch computes those that targets name. torch.nn's.
class AdaptiveLogSoftmaxWithLoss : public Module {
 public:
  AdaptiveLogSoftmaxWithLoss(Module& parent, PartName name, int64_t size, int64_t classes,
                             std::vector<int64_t> cutoffs, double div_value = 4, bool head_bias = false);

  struct Result {
    Tensor output;  // The log probability of each row's target.
    Tensor loss;    // Their mean, negated.
  };
  // x is [rows, size], target [rows]; or a vector and a scalar. Throws for other shapes, and for a class that
  // does not exist. On a device, where values are not checked, such a class counts as the nearest.
  Result operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const;
  // The log probabilities of all classes, [rows, classes].
  Tensor LogProb(const Tensor& x, Caller caller = Caller::Here()) const;
  // The most probable class of each row.
  Tensor Predict(const Tensor& x, Caller caller = Caller::Here()) const;

  Linear head;
  ModuleList<Sequential> tail;

 private:
  const std::vector<int64_t> cutoffs_;  // The last is the number of classes.
};

}  // namespace hlod::nn
