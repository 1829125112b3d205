// Modules of activations with weights, and of losses with buffers.
#include "hlod/nn/activations.h"

#include "hlod/nn/losses.h"
#include "hlod/ops/creation.h"

namespace hlod::nn {

Prelu::Prelu(Module& parent, std::string name, int64_t count, double slope)
    : Module(parent, std::move(name)), weight(Full({count}, slope)) {
  RegisterParameter("weight", weight);
}

CrossEntropyLoss::CrossEntropyLoss(Module& parent, std::string name, Tensor class_weight,
                                   int64_t ignore_index, double label_smoothing, Reduction reduction)
    : Module(parent, std::move(name)),
      weight(std::move(class_weight)),
      ignore_index_(ignore_index),
      label_smoothing_(label_smoothing),
      reduction_(reduction) {
  RegisterBuffer("weight", weight);
}

NllLoss::NllLoss(Module& parent, std::string name, Tensor class_weight, int64_t ignore_index,
                 Reduction reduction)
    : Module(parent, std::move(name)),
      weight(std::move(class_weight)),
      ignore_index_(ignore_index),
      reduction_(reduction) {
  RegisterBuffer("weight", weight);
}

BceLoss::BceLoss(Module& parent, std::string name, Tensor each_weight, Reduction reduction)
    : Module(parent, std::move(name)), weight(std::move(each_weight)), reduction_(reduction) {
  RegisterBuffer("weight", weight);
}

BceWithLogitsLoss::BceWithLogitsLoss(Module& parent, std::string name, Tensor each_weight, Tensor positive,
                                     Reduction reduction)
    : Module(parent, std::move(name)),
      weight(std::move(each_weight)),
      pos_weight(std::move(positive)),
      reduction_(reduction) {
  RegisterBuffer("weight", weight);
  RegisterBuffer("pos_weight", pos_weight);
}

}  // namespace hlod::nn
