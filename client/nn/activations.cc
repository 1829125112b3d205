// Modules of activations with weights, and of losses with buffers.
#include "hlod/nn/activations.h"

#include "absl/strings/str_cat.h"
#include "hlod/nn/losses.h"
#include "hlod/ops/creation.h"

namespace hlod::nn {

Prelu::Prelu(Module& parent, PartName name, int64_t count, double slope)
    : Module(parent, std::move(name), "prelu", {{"count", count, Limit::kPositive}}),
      weight(Full({count}, slope)) {
  RegisterParameter("weight", weight);
}

Rrelu::Rrelu(Module& parent, PartName name, double lower, double upper)
    : Module(parent, std::move(name), "rrelu",
             {{lower <= upper, absl::StrCat("lower (", lower, ") is above upper (", upper, ")")}}),
      lower_(lower),
      upper_(upper) {}

CrossEntropyLoss::CrossEntropyLoss(Module& parent, PartName name, Tensor class_weight, int64_t ignore_index,
                                   double label_smoothing, Reduction reduction)
    : Module(parent, std::move(name), "cross_entropy",
             {{"label_smoothing", label_smoothing, Limit::kUpToOne}}),
      weight(std::move(class_weight)),
      ignore_index_(ignore_index),
      label_smoothing_(label_smoothing),
      reduction_(reduction) {
  RegisterBuffer("weight", weight);
}

NllLoss::NllLoss(Module& parent, PartName name, Tensor class_weight, int64_t ignore_index,
                 Reduction reduction)
    : Module(parent, std::move(name)),
      weight(std::move(class_weight)),
      ignore_index_(ignore_index),
      reduction_(reduction) {
  RegisterBuffer("weight", weight);
}

BceLoss::BceLoss(Module& parent, PartName name, Tensor each_weight, Reduction reduction)
    : Module(parent, std::move(name)), weight(std::move(each_weight)), reduction_(reduction) {
  RegisterBuffer("weight", weight);
}

BceWithLogitsLoss::BceWithLogitsLoss(Module& parent, PartName name, Tensor each_weight, Tensor positive,
                                     Reduction reduction)
    : Module(parent, std::move(name)),
      weight(std::move(each_weight)),
      pos_weight(std::move(positive)),
      reduction_(reduction) {
  RegisterBuffer("weight", weight);
  RegisterBuffer("pos_weight", pos_weight);
}

}  // namespace hlod::nn
