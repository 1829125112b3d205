// Links with PyTorch's arithmetic: SGD with dampening, Adam, RMSprop, Adagrad.
#include "client/transform/optimizer/torch/moments.h"

#include "hlod/ops/comparison.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"

namespace hlod::optim {
namespace {

// Returns `kinds` lists of zeros with the parameters' shapes, one list after another, then the count.
Tensors ZerosAndCount(const Tensors& params, size_t kinds) {
  Tensors state;
  for (size_t kind = 0; kind < kinds; ++kind) {
    for (const Tensor& param : params) state.push_back(ZerosFor(param));
  }
  state.push_back(ZeroCount(params));
  return state;
}

// State: the buffers, the count.
class DampenedTraceLink : public Link {
 public:
  DampenedTraceLink(double momentum, double dampening) : momentum_(momentum), dampening_(dampening) {}
  Tensors Init(const Tensors& params) const override { return ZerosAndCount(params, 1); }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    Tensors next = state;
    const Tensor first = Eq(state.back(), 0);
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      next[i] = Where(first, updates[i], state[i] * momentum_ + updates[i] * (1 - dampening_));
      updates[i] = next[i];
    }
    next.back() = Increment(state.back());
    return next;
  }

 private:
  const double momentum_, dampening_;
};

// State: first moments, second moments, with `amsgrad` the largest second moments, the count.
class TorchAdamLink : public Link {
 public:
  TorchAdamLink(double b1, double b2, double eps, bool amsgrad)
      : b1_(b1), b2_(b2), eps_(eps), amsgrad_(amsgrad) {}
  Tensors Init(const Tensors& params) const override { return ZerosAndCount(params, amsgrad_ ? 3 : 2); }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const size_t n = updates.size();
    const Tensor count = Increment(state.back());
    Tensors next = state;
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      next[i] = MovingAverage(state[i], updates[i], b1_);
      next[n + i] = MovingAverage(state[n + i], Square(updates[i]), b2_);
      if (amsgrad_) next[2 * n + i] = Maximum(state[2 * n + i], next[n + i]);
      const Tensor& second = next[(amsgrad_ ? 2 : 1) * n + i];
      updates[i] =
          ExactlyBiasCorrected(next[i], b1_, count) / (Sqrt(ExactlyBiasCorrected(second, b2_, count)) + eps_);
    }
    next.back() = count;
    return next;
  }

 private:
  const double b1_, b2_, eps_;
  const bool amsgrad_;
};

// State: averages of squares, then, if centered, averages of gradients.
class RootMeanSquareLink : public Link {
 public:
  RootMeanSquareLink(double alpha, double eps, bool centered)
      : alpha_(alpha), eps_(eps), centered_(centered) {}
  Tensors Init(const Tensors& params) const override {
    Tensors state = ZerosAndCount(params, centered_ ? 2 : 1);
    state.pop_back();
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const size_t n = updates.size();
    Tensors next = state;
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      next[i] = MovingAverage(state[i], Square(updates[i]), alpha_);
      Tensor variance = next[i];
      if (centered_) {
        next[n + i] = MovingAverage(state[n + i], updates[i], alpha_);
        variance = variance - Square(next[n + i]);
      }
      updates[i] = updates[i] / (Sqrt(variance) + eps_);
    }
    return next;
  }

 private:
  const double alpha_, eps_;
  const bool centered_;
};

// State: sums of squares, the count.
class SumOfSquaresLink : public Link {
 public:
  SumOfSquaresLink(double initial, double eps, double decay) : initial_(initial), eps_(eps), decay_(decay) {}
  Tensors Init(const Tensors& params) const override {
    Tensors state = ZerosAndCount(params, 1);
    for (size_t i = 0; i < params.size(); ++i) state[i] = state[i] + initial_;
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    Tensors next = state;
    const Tensor slower = state.back().To(kF64) * decay_ + 1;
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      next[i] = state[i] + Square(updates[i]);
      updates[i] = updates[i] / (Sqrt(next[i]) + eps_);
      if (decay_ != 0) updates[i] = updates[i] / slower.To(updates[i].dtype());
    }
    next.back() = Increment(state.back());
    return next;
  }

 private:
  const double initial_, eps_, decay_;
};

}  // namespace

Optimizer DecayedIf(double weight_decay) {
  if (weight_decay != 0) return AddDecayedWeights(weight_decay);
  return Elementwise([](const Tensor& update, const Tensor&) { return update; });
}
Optimizer DampenedTrace(double momentum, double dampening) {
  return Make<DampenedTraceLink>(momentum, dampening);
}
Optimizer ScaleByTorchAdam(double b1, double b2, double eps, bool amsgrad) {
  return Make<TorchAdamLink>(b1, b2, eps, amsgrad);
}
Optimizer ScaleByRootMeanSquare(double alpha, double eps, bool centered) {
  return Make<RootMeanSquareLink>(alpha, eps, centered);
}
Optimizer ScaleBySumOfSquares(double initial, double eps, double decay) {
  return Make<SumOfSquaresLink>(initial, eps, decay);
}

}  // namespace hlod::optim
