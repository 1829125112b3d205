// Losses as layers, which hold the arguments that PyTorch's criteria are constructed with.
#pragma once

#include <string>
#include <utility>

#include "hlod/nn/module.h"
#include "hlod/ops/nn/loss.h"

namespace hlod::nn {

// A loss of an input and a target whose only option is the reduction.
template <Tensor (*kFunction)(const Tensor&, const Tensor&, Reduction, Caller)>
class Loss : public Module {
 public:
  Loss(Module& parent, PartName name, Reduction reduction = Reduction::kMean)
      : Module(parent, std::move(name)), reduction_(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, target},
                   [&](Tensors in) { return kFunction(in[0], in[1], reduction_, caller); });
  }

 private:
  Reduction reduction_;
};
using MseLoss = Loss<&hlod::MseLoss>;
using L1Loss = Loss<&hlod::L1Loss>;
using SoftMarginLoss = Loss<&hlod::SoftMarginLoss>;
using MultilabelMarginLoss = Loss<&hlod::MultilabelMarginLoss>;

// A loss with one number besides its reduction: beta, delta or a margin.
template <Tensor (*kFunction)(const Tensor&, const Tensor&, double, Reduction, Caller), Limit kLimit>
class LossWith : public Module {
 public:
  LossWith(Module& parent, PartName name, double number = 1, Reduction reduction = Reduction::kMean)
      : Module(parent, std::move(name), "loss", {{"the number", number, kLimit}}),
        number_(number),
        reduction_(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, target},
                   [&](Tensors in) { return kFunction(in[0], in[1], number_, reduction_, caller); });
  }

 private:
  double number_;
  Reduction reduction_;
};
using SmoothL1Loss = LossWith<&hlod::SmoothL1Loss, Limit::kNotNegative>;
using HuberLoss = LossWith<&hlod::HuberLoss, Limit::kPositive>;
using HingeEmbeddingLoss = LossWith<&hlod::HingeEmbeddingLoss, Limit::kNone>;

// The cross entropy of logits and classes. The weight, one number per class, is a buffer.
class CrossEntropyLoss : public Module {
 public:
  CrossEntropyLoss(Module& parent, PartName name, Tensor weight = {}, int64_t ignore_index = -100,
                   double label_smoothing = 0, Reduction reduction = Reduction::kMean);
  Tensor operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, target}, [&](Tensors in) {
      return CrossEntropy(in[0], in[1], weight, ignore_index_, label_smoothing_, reduction_);
    });
  }
  Tensor weight;

 private:
  int64_t ignore_index_;
  double label_smoothing_;
  Reduction reduction_;
};

class NllLoss : public Module {
 public:
  NllLoss(Module& parent, PartName name, Tensor weight = {}, int64_t ignore_index = -100,
          Reduction reduction = Reduction::kMean);
  Tensor operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, target}, [&](Tensors in) {
      return hlod::NllLoss(in[0], in[1], weight, ignore_index_, reduction_);
    });
  }
  Tensor weight;

 private:
  int64_t ignore_index_;
  Reduction reduction_;
};

class BceLoss : public Module {
 public:
  BceLoss(Module& parent, PartName name, Tensor weight = {}, Reduction reduction = Reduction::kMean);
  Tensor operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, target},
                   [&](Tensors in) { return BinaryCrossEntropy(in[0], in[1], weight, reduction_); });
  }
  Tensor weight;

 private:
  Reduction reduction_;
};

class BceWithLogitsLoss : public Module {
 public:
  BceWithLogitsLoss(Module& parent, PartName name, Tensor weight = {}, Tensor pos_weight = {},
                    Reduction reduction = Reduction::kMean);
  Tensor operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, target}, [&](Tensors in) {
      return BinaryCrossEntropyWithLogits(in[0], in[1], weight, pos_weight, reduction_);
    });
  }
  Tensor weight, pos_weight;

 private:
  Reduction reduction_;
};

class KlDivLoss : public Module {
 public:
  KlDivLoss(Module& parent, PartName name, Reduction reduction = Reduction::kMean, bool log_target = false)
      : Module(parent, std::move(name)), reduction_(reduction), log_target_(log_target) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, target},
                   [&](Tensors in) { return KlDiv(in[0], in[1], reduction_, log_target_); });
  }

 private:
  Reduction reduction_;
  bool log_target_;
};

class TripletMarginLoss : public Module {
 public:
  TripletMarginLoss(Module& parent, PartName name, TripletOptions options = {})
      : Module(parent, std::move(name)), options_(options) {}
  Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    Caller caller = Caller::Here()) const {
    return Forward(caller, {anchor, positive, negative},
                   [&](Tensors in) { return hlod::TripletMarginLoss(in[0], in[1], in[2], options_); });
  }

 private:
  TripletOptions options_;
};

class CosineEmbeddingLoss : public Module {
 public:
  CosineEmbeddingLoss(Module& parent, PartName name, double margin = 0,
                      Reduction reduction = Reduction::kMean)
      : Module(parent, std::move(name)), margin_(margin), reduction_(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& y, const Tensor& target,
                    Caller caller = Caller::Here()) const {
    return Forward(caller, {x, y, target}, [&](Tensors in) {
      return hlod::CosineEmbeddingLoss(in[0], in[1], in[2], margin_, reduction_);
    });
  }

 private:
  double margin_;
  Reduction reduction_;
};

}  // namespace hlod::nn
