// Optimizers that keep moments of the gradients: momentum, Adam, Lion.
#include "client/transform/optimizer/transformation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"

namespace hlod::optim {
namespace {

Tensors ZerosForAll(const Tensors& params) {
  Tensors zeros;
  for (const Tensor& param : params) zeros.push_back(ZerosFor(param));
  return zeros;
}

class TraceLink : public Link {
 public:
  TraceLink(Number decay, bool nesterov) : decay_(std::move(decay)), nesterov_(nesterov) {}
  Tensors Init(const Tensors& params) const override { return ZerosForAll(params); }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    Tensors traces = state;
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      traces[i] = updates[i] + state[i] * decay_;
      updates[i] = nesterov_ ? updates[i] + traces[i] * decay_ : traces[i];
    }
    return traces;
  }

 private:
  const Number decay_;
  const bool nesterov_;
};

// State: the averages, then the count.
class EmaLink : public Link {
 public:
  EmaLink(Number decay, bool debias) : decay_(std::move(decay)), debias_(debias) {}
  Tensors Init(const Tensors& params) const override {
    Tensors state = ZerosForAll(params);
    state.push_back(ZeroCount(params));
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    Tensors next = state;
    const Tensor count = Increment(state.back());
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      next[i] = MovingAverage(state[i], updates[i], decay_);
      updates[i] = debias_ ? BiasCorrected(next[i], decay_, count) : next[i];
    }
    next.back() = count;
    return next;
  }

 private:
  const Number decay_;
  const bool debias_;
};

// State: first moments, second moments, the count.
class AdamLink : public Link {
 public:
  explicit AdamLink(const AdamOptions& options) : options_(options) {}
  Tensors Init(const Tensors& params) const override {
    Tensors state = ZerosForAll(params);
    for (const Tensor& param : params) state.push_back(ZeroModuliFor(param));
    state.push_back(ZeroCount(params));
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const auto& [b1, b2, eps, eps_root, nesterov] = options_;
    const size_t n = updates.size();
    const Tensor count = Increment(state.back());
    Tensors next = state;
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      const Tensor& gradient = updates[i];
      Tensor &first = next[i], &second = next[n + i];
      first = MovingAverage(state[i], gradient, b1);
      second = MovingAverage(state[n + i], SquaredModulus(gradient), b2);
      const Tensor mean = nesterov ? MovingAverage(BiasCorrected(first, b1, Increment(count)),
                                                   BiasCorrected(gradient, b1, count), b1)
                                   : BiasCorrected(first, b1, count);
      const Tensor variance = BiasCorrected(second, b2, count);
      updates[i] = mean / (Sqrt(variance + eps_root) + eps);
    }
    next.back() = count;
    return next;
  }

 private:
  const AdamOptions options_;
};

class LionLink : public Link {
 public:
  LionLink(Number b1, Number b2) : b1_(std::move(b1)), b2_(std::move(b2)) {}
  Tensors Init(const Tensors& params) const override { return ZerosForAll(params); }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    Tensors moments = state;
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      moments[i] = MovingAverage(state[i], updates[i], b2_);
      updates[i] = Sgn(MovingAverage(state[i], updates[i], b1_));
    }
    return moments;
  }

 private:
  const Number b1_, b2_;
};

}  // namespace

Optimizer Trace(const Number& decay, bool nesterov) { return Make<TraceLink>(decay, nesterov); }
Optimizer Ema(const Number& decay, bool debias) { return Make<EmaLink>(decay, debias); }
Optimizer ScaleByAdam(const AdamOptions& options) { return Make<AdamLink>(options); }
Optimizer ScaleByLion(const Number& b1, const Number& b2) { return Make<LionLink>(b1, b2); }

Optimizer Sgd(Rate rate, std::optional<Number> momentum, bool nesterov) {
  return Chain({momentum ? Trace(*momentum, nesterov) : Identity(), ScaleByLearningRate(std::move(rate))});
}
Optimizer Adam(Rate rate, const AdamOptions& options) {
  return Chain({ScaleByAdam(options), ScaleByLearningRate(std::move(rate))});
}
Optimizer AdamW(Rate rate, Rate weight_decay, const AdamOptions& options, const Mask& mask) {
  return Chain({ScaleByAdam(options), AddDecayedWeights(std::move(weight_decay), mask),
                ScaleByLearningRate(std::move(rate))});
}
Optimizer Lion(Rate rate, const Number& b1, const Number& b2, Rate weight_decay) {
  return Chain({ScaleByLion(b1, b2), AddDecayedWeights(std::move(weight_decay)),
                ScaleByLearningRate(std::move(rate))});
}

}  // namespace hlod::optim
