// Optax's transformations that scale gradients by what they were before, one function per algorithm, and the
// optimizers made of them.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/transformation.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/random_key.h"
#include "hlod/ops/reduction.h"
#include "hlod/optim/optim_scaling.h"

namespace hlod::optim {
namespace {

Tensor FilledFor(const Tensor& param, double value) {
  if (param.is_placeholder()) return ZerosFor(param);
  return Full(param.dims(), value, {.type = param.dtype(), .device = param.device()});
}

// Returns 1 / sqrt(x + eps), or 1 / (sqrt(x) + eps).
Tensor InverseRoot(const Tensor& x, double eps, bool eps_in_sqrt) {
  return eps_in_sqrt ? Rsqrt(x + eps) : 1 / (Sqrt(x) + eps);
}

// One leaf in a step: its gradient, parameter, the number of the step from 1, and what is remembered of it,
// which the step replaces.
struct LeafStep {
  const Tensor& gradient;
  const Tensor& param;
  const Tensor& count;
  Tensors& slots;
};

// A link that treats each leaf alone. State: the slots of each kind for all leaves, kind after kind; the
// count.
class LeafLink : public Link {
 public:
  using Slot = std::function<Tensor(const Tensor& param)>;
  using Step = std::function<Tensor(const LeafStep&)>;
  LeafLink(std::vector<Slot> slots, Step step) : slots_(std::move(slots)), step_(std::move(step)) {}

  Tensors Init(const Tensors& params) const override {
    Tensors state;
    for (const Slot& slot : slots_) {
      for (const Tensor& param : params) state.push_back(slot(param));
    }
    state.push_back(ZeroCount(params));
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors& params) const override {
    const size_t n = updates.size();
    const Tensor count = Increment(state.back());
    Tensors next = state;
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      Tensors slots;
      for (size_t k = 0; k < slots_.size(); ++k) slots.push_back(state[k * n + i]);
      updates[i] = step_({updates[i], params[i], count, slots});
      for (size_t k = 0; k < slots_.size(); ++k) next[k * n + i] = slots[k];
    }
    next.back() = count;
    return next;
  }

 private:
  const std::vector<Slot> slots_;
  const Step step_;
};

Optimizer PerLeaf(std::vector<LeafLink::Slot> slots, LeafLink::Step step) {
  return Make<LeafLink>(std::move(slots), std::move(step));
}

Tensor ZerosLikeParam(const Tensor& param) { return ZerosFor(param); }
LeafLink::Slot Filled(double value) {
  return [=](const Tensor& param) { return FilledFor(param, value); };
}

Tensor CountAs(const LeafStep& s) { return s.count.To(StepType(s.gradient.dtype())); }

// State: per leaf a vector per dimension, in order of the leaves; the averages of all leaves.
class Sm3Link : public Link {
 public:
  Sm3Link(double b1, double b2, double eps) : b1_(b1), b2_(b2), eps_(eps) {}
  Tensors Init(const Tensors& params) const override {
    Tensors state;
    for (const Tensor& param : params) {
      for (const int64_t size : param.dims()) state.push_back(ZerosFor(param, {size}));
    }
    for (const Tensor& param : params) state.push_back(ZerosFor(param));
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors& params) const override {
    Tensors next = state;
    size_t at = 0;
    const size_t averages = state.size() - params.size();
    for (size_t i = 0; i < updates.size(); ++i) {
      const auto rank = static_cast<size_t>(params[i].rank());
      if (updates[i].defined()) {
        Tensor& average = next[averages + i];
        const Tensor gradient = updates[i];
        const Tensor sum = Accumulated(gradient, absl::MakeConstSpan(state).subspan(at, rank));
        const Tensor scaled = gradient * Where(Gt(sum, 0), Rsqrt(sum + eps_), 0.0).To(gradient.dtype());
        updates[i] = average = MovingAverage(average, scaled, b1_);
        for (size_t dim = 0; dim < rank; ++dim) next[at + dim] = Greatest(sum, dim);
      }
      at += rank;
    }
    return next;
  }

 private:
  Tensor Accumulated(const Tensor& gradient, absl::Span<const Tensor> vectors) const {
    Tensor least;
    for (size_t dim = 0; dim < vectors.size(); ++dim) {
      Dims dims(vectors.size(), 1);
      dims[dim] = vectors[dim].size(0);
      const Tensor along = vectors[dim].Reshape(dims);
      least = least.defined() ? Minimum(least, along) : along;
    }
    const Tensor squares = Square(gradient) * (b2_ == 1 ? 1 : 1 - b2_);
    return least.defined() ? squares + least * b2_ : squares;
  }
  // Returns the greatest element per index of a dimension.
  static Tensor Greatest(const Tensor& x, size_t dim) {
    Dims others;
    for (size_t i = 0; i < static_cast<size_t>(x.rank()); ++i) {
      if (i != dim) others.push_back(static_cast<int64_t>(i));
    }
    return others.empty() ? x : Amax(x, others);
  }

  const double b1_, b2_, eps_;
};

// State: the count, the key.
class NoiseLink : public Link {
 public:
  NoiseLink(double eta, double gamma, uint64_t seed) : eta_(eta), gamma_(gamma), seed_(seed) {}
  Tensors Init(const Tensors& params) const override {
    const Tensor count = ZeroCount(params);
    return {count, random::Key(seed_, count.device())};
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const Tensor count = Increment(state[0]), keys = random::Split(state[1]);
    const Tensor each = random::Split(keys[1], static_cast<int64_t>(updates.size()));
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      const PrimitiveType type = StepType(updates[i].dtype());
      const Tensor deviation = Sqrt(eta_ / Pow(count.To(type), gamma_));
      const Tensor noise = random::Normal(each[static_cast<int64_t>(i)], updates[i].dims(), type);
      updates[i] = updates[i] + (noise * deviation).To(updates[i].dtype());
    }
    return {count, keys[0]};
  }

 private:
  const double eta_, gamma_;
  const uint64_t seed_;
};

}  // namespace

Optimizer ScaleByRms(const RmsOptions& o) {
  return PerLeaf({Filled(o.initial_scale)}, [o](const LeafStep& s) {
    s.slots[0] = MovingAverage(s.slots[0], SquaredModulus(s.gradient), o.decay);
    const Tensor mean = o.bias_correction ? BiasCorrected(s.slots[0], o.decay, s.count) : s.slots[0];
    return s.gradient * InverseRoot(mean, o.eps, o.eps_in_sqrt);
  });
}

Optimizer ScaleByStddev(const RmsOptions& o) {
  return PerLeaf({ZerosLikeParam, Filled(o.initial_scale)}, [o](const LeafStep& s) {
    s.slots[0] = MovingAverage(s.slots[0], s.gradient, o.decay);
    s.slots[1] = MovingAverage(s.slots[1], SquaredModulus(s.gradient), o.decay);
    const auto mean = [&](size_t i) {
      return o.bias_correction ? BiasCorrected(s.slots[i], o.decay, s.count) : s.slots[i];
    };
    return s.gradient * InverseRoot(mean(1) - SquaredModulus(mean(0)), o.eps, o.eps_in_sqrt);
  });
}

Optimizer ScaleByRss(double initial_accumulator_value, double eps) {
  return PerLeaf({Filled(initial_accumulator_value)}, [eps](const LeafStep& s) {
    s.slots[0] = SquaredModulus(s.gradient) + s.slots[0];
    return s.gradient * Where(Gt(s.slots[0], 0), Rsqrt(s.slots[0] + eps), 0.0).To(s.slots[0].dtype());
  });
}

Optimizer ScaleByAmsgrad(const AmsgradOptions& o) {
  return PerLeaf({ZerosLikeParam, ZeroModuliFor, ZeroModuliFor}, [o](const LeafStep& s) {
    s.slots[0] = MovingAverage(s.slots[0], s.gradient, o.b1);
    s.slots[1] = MovingAverage(s.slots[1], SquaredModulus(s.gradient), o.b2);
    const Tensor mean = o.bias_correction_mu ? BiasCorrected(s.slots[0], o.b1, s.count) : s.slots[0];
    const Tensor square = o.bias_correction_nu ? BiasCorrected(s.slots[1], o.b2, s.count) : s.slots[1];
    s.slots[2] = Maximum(s.slots[2], square);
    return mean / (Sqrt(s.slots[2] + o.eps_root) + o.eps);
  });
}

Optimizer ScaleByAdamax(double b1, double b2, double eps) {
  return PerLeaf({ZerosLikeParam, ZeroModuliFor}, [=](const LeafStep& s) {
    s.slots[0] = MovingAverage(s.slots[0], s.gradient, b1);
    s.slots[1] = Maximum(Abs(s.gradient) + eps, s.slots[1] * b2);
    return BiasCorrected(s.slots[0], b1, s.count) / s.slots[1];
  });
}

Optimizer ScaleByRprop(double learning_rate, const RpropOptions& o) {
  return PerLeaf({Filled(learning_rate), ZerosLikeParam}, [=](const LeafStep& s) {
    const Tensor product = s.gradient * s.slots[1];
    const Tensor factor = Where(Gt(product, 0), o.eta_plus, o.eta_minus);
    const Tensor moved = Clamp(s.slots[0] * factor, o.min_step_size, o.max_step_size);
    s.slots[0] = Where(Eq(product, 0), s.slots[0], moved).To(s.gradient.dtype());
    const Tensor turned = Lt(product, 0), before = s.slots[1];
    s.slots[1] = Where(turned, 0, s.slots[0] * Sgn(s.gradient)).To(s.gradient.dtype());
    // Optax gives the step that was found at the update before.
    return Where(turned, 0, before).To(s.gradient.dtype());
  });
}
Optimizer ScaleByAdadelta(double rho, double eps) {
  return PerLeaf({ZerosLikeParam, ZerosLikeParam}, [=](const LeafStep& s) {
    s.slots[0] = MovingAverage(s.slots[0], Square(s.gradient), rho);
    const Tensor update = Sqrt(s.slots[1] + eps) / Sqrt(s.slots[0] + eps) * s.gradient;
    s.slots[1] = MovingAverage(s.slots[1], Square(update), rho);
    return update;
  });
}

// Adam as soon as the variance of its step is known well enough (rho); momentum before.
Optimizer ScaleByRadam(const RadamOptions& o) {
  const double most = 2 / (1 - o.b2) - 1;
  return PerLeaf({ZerosLikeParam, ZeroModuliFor}, [o, most](const LeafStep& s) {
    s.slots[0] = MovingAverage(s.slots[0], s.gradient, o.b1);
    s.slots[1] = MovingAverage(s.slots[1], SquaredModulus(s.gradient), o.b2);
    const Tensor count = CountAs(s), power = Pow(o.b2, count), rho = most - count * 2 * power / (1 - power);
    const Tensor mean = o.nesterov ? MovingAverage(BiasCorrected(s.slots[0], o.b1, Increment(s.count)),
                                                   BiasCorrected(s.gradient, o.b1, s.count), o.b1)
                                   : BiasCorrected(s.slots[0], o.b1, s.count);
    const Tensor square = BiasCorrected(s.slots[1], o.b2, s.count);
    const Tensor factor = Sqrt((rho - 4) * (rho - 2) * most / (rho * ((most - 4) * (most - 2))));
    const Tensor adaptive = mean * factor.To(square.dtype()) / (Sqrt(square + o.eps_root) + o.eps);
    return Where(Ge(rho, o.threshold), adaptive, mean);
  });
}

Optimizer ScaleByNovograd(const NovogradOptions& o) {
  const LeafLink::Slot scalar = [](const Tensor& param) { return ZerosFor(param, {}); };
  return PerLeaf({ZerosLikeParam, scalar}, [o](const LeafStep& s) {
    const Tensor first = Eq(s.count, 1), square = Sum(SquaredModulus(s.gradient));
    s.slots[1] = Where(first, square, MovingAverage(s.slots[1], square, o.b2));
    const Tensor added = s.gradient / (Sqrt(s.slots[1] + o.eps_root) + o.eps) + s.param * o.weight_decay;
    s.slots[0] = Where(first, added, s.slots[0] * o.b1 + added);
    return s.slots[0];
  });
}

Optimizer ScaleByYogi(const YogiOptions& o) {
  return PerLeaf({Filled(o.initial_accumulator_value), Filled(o.initial_accumulator_value)},
                 [o](const LeafStep& s) {
                   const Tensor square = SquaredModulus(s.gradient);
                   s.slots[0] = MovingAverage(s.slots[0], s.gradient, o.b1);
                   s.slots[1] = s.slots[1] - Sgn(s.slots[1] - square) * (1 - o.b2) * square;
                   return BiasCorrected(s.slots[0], o.b1, s.count) /
                          (Sqrt(BiasCorrected(s.slots[1], o.b2, s.count) + o.eps_root) + o.eps);
                 });
}

Optimizer ScaleByAdan(const AdanOptions& o) {
  return PerLeaf({ZerosLikeParam, ZerosLikeParam, ZeroModuliFor, ZerosLikeParam}, [o](const LeafStep& s) {
    const Tensor change = Where(Eq(s.count, 1), ZerosLike(s.gradient), s.gradient - s.slots[3]);
    s.slots[0] = MovingAverage(s.slots[0], s.gradient, o.b1);
    s.slots[1] = MovingAverage(s.slots[1], change, o.b2);
    s.slots[2] = MovingAverage(s.slots[2], SquaredModulus(s.gradient + change * (1 - o.b2)), o.b3);
    s.slots[3] = s.gradient;
    const Tensor mean =
        BiasCorrected(s.slots[0], o.b1, s.count) + BiasCorrected(s.slots[1], o.b2, s.count) * (1 - o.b2);
    return mean / (Sqrt(BiasCorrected(s.slots[2], o.b3, s.count) + o.eps_root) + o.eps);
  });
}

Optimizer ScaleBySm3(double b1, double b2, double eps) { return Make<Sm3Link>(b1, b2, eps); }

Optimizer ApplyEvery(int64_t k, Caller caller) {
  RequireThat(k > 0, absl::StrCat("k (", k, ") of apply_every is not positive"), "apply_every", caller);
  return PerLeaf({ZerosLikeParam}, [k](const LeafStep& s) {
    const Tensor place = Remainder(s.count - 1, k);
    s.slots[0] = Where(Eq(place, 0), s.gradient, s.slots[0] + s.gradient);
    return Where(Eq(place, k - 1), s.slots[0], ZerosLike(s.slots[0]));
  });
}

Optimizer AddNoise(double eta, double gamma, uint64_t seed) { return Make<NoiseLink>(eta, gamma, seed); }

}  // namespace hlod::optim
