// L-BFGS (Nocedal and Wright, algorithm 7.4) as in PyTorch. All parameters, and all gradients, are one flat
// vector. The inverse Hessian is approximated from the last moves and the resulting changes of the gradient.
//
// These stand in tensors with a row per pair, so that an iteration is the same program while their number
// grows. There are more rows than pairs at first: a row of zeros with a curvature of 0 takes factor 0, and
// the direction stays what it was.
//
// An iteration reads back what it decides by: numbers that are known together are read together, so that a
// step consists of few programs.
#include "hlod/optim/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/runtime/handles/own_lines.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/torch/with_grad.h"
#include "client/transform/optimizer/torch/wolfe.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"
#include "hlod/tensor/autograd.h"
#include "hlod/transform/control.h"

namespace hlod {
namespace {

constexpr char kLbfgs[] = "lbfgs";

Tensor FlatOf(const Tensor& x) { return (hlo::IsComplex(x.dtype()) ? ViewAsReal(x) : x).Reshape({-1}); }

Tensor FlatGradient(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> parts;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.Grad(), plain = parameter.Detach();
    parts.push_back(FlatOf(gradient.defined() ? gradient : ZerosLike(plain)));
  }
  return Cat(parts);
}

// Returns a history in which `newest` has come last and the oldest row is gone.
Tensor Shifted(const Tensor& history, const Tensor& newest) {
  return Cat({history.Narrow(0, 1, history.size(0) - 1), newest.Unsqueeze(0)});
}

// Reads scalars by one transfer.
std::vector<double> Read(const std::vector<Tensor>& scalars) {
  std::vector<Tensor> wide;
  for (const Tensor& scalar : scalars) wide.push_back(scalar.Reshape({}).To(kF64));
  return Stack(wide).ToVector<double>();
}

void RequireLbfgsOptions(const LbfgsOptions& options, const Caller& caller) {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  RequireWithin(Limit::kNotNegative, "lr", options.lr, kLbfgs, caller);
  RequireWithin(Limit::kPositive, "max_iter", number(options.max_iter), kLbfgs, caller);
  RequireWithin(Limit::kPositive, "max_eval", number(options.max_eval.value_or(1)), kLbfgs, caller);
  RequireWithin(Limit::kNotNegative, "tolerance_grad", options.tolerance_grad, kLbfgs, caller);
  RequireWithin(Limit::kNotNegative, "tolerance_change", options.tolerance_change, kLbfgs, caller);
  RequireWithin(Limit::kPositive, "history_size", number(options.history_size), kLbfgs, caller);
}

}  // namespace

// One call of Step().
class LbfgsStep {
 public:
  LbfgsStep(Lbfgs& optimizer, const std::function<Tensor()>& closure)
      : l_(optimizer), o_(optimizer.options_), closure_(closure) {}

  Tensor Run() {
    const NoGrad no_grad;
    const Tensor first = Evaluate();
    if (largest_ > o_.tolerance_grad) Iterate();
    l_.evaluations_ += evaluations_;
    return first;
  }

 private:
  void Iterate() {
    const int64_t max_eval = o_.max_eval.value_or(o_.max_iter * 5 / 4);
    for (int64_t i = 1;; ++i) {
      ++l_.iterations_;
      FindDirection();
      const std::vector<double> read =
          Read({Dot(gradient_, l_.direction_), Amax(Abs(l_.direction_)), Sum(Abs(gradient_))});
      const double slope = read[0], reach = read[1];
      l_.last_gradient_ = gradient_;
      l_.last_loss_ = loss_;
      l_.length_ = o_.lr;
      if (l_.iterations_ == 1) l_.length_ *= std::min(1.0, 1 / read[2]);
      if (slope > -o_.tolerance_change) return;
      const int64_t before = evaluations_;
      o_.strong_wolfe ? Search(slope, reach) : MoveByRate(/*last=*/i == o_.max_iter);
      const bool looked = evaluations_ > before;
      if (i == o_.max_iter || evaluations_ >= max_eval) return;
      if (looked && largest_ <= o_.tolerance_grad) return;
      if (reach * std::abs(l_.length_) <= o_.tolerance_change) return;
      if (std::abs(loss_ - l_.last_loss_) < o_.tolerance_change) return;
    }
  }

  // Sets the direction to the product of the approximate inverse Hessian and the negative gradient.
  void FindDirection() {
    if (l_.iterations_ == 1) {
      StartHistory(gradient_);
      l_.direction_ = -gradient_;
      l_.scale_ = FromValues<double>({1}, Dims{}, gradient_.device()).To(gradient_.dtype());
      return;
    }
    Remember(gradient_ - l_.last_gradient_, l_.direction_ * l_.length_);
    if (l_.kept_ == 0) {
      l_.direction_ = -gradient_ * l_.scale_;
      return;
    }
    using Pair = std::tuple<Tensor, Tensor, Tensor>;  // Change, move, curvature.
    const Pair pairs(l_.changes_, l_.moves_, l_.curvatures_);
    const auto newest_first = [](const Tensor& q, const Pair& pair) {
      const auto& [change, move, curvature] = pair;
      const Tensor factor = Dot(move, q) * curvature;
      return std::pair(q - change * factor, factor);
    };
    const auto [q, factors] = Scan(newest_first, -gradient_, pairs, {.reverse = true});
    const auto oldest_first = [](const Tensor& r, const std::pair<Pair, Tensor>& each) {
      const auto& [change, move, curvature] = each.first;
      return std::pair(r + move * (each.second - Dot(change, r) * curvature), std::tuple<>());
    };
    l_.direction_ = Scan(oldest_first, q * l_.scale_, std::pair(pairs, factors)).first;
  }

  // Adds a pair to the history. A pair whose curvature is not positive is dropped, because it would make the
  // approximation indefinite.
  void Remember(const Tensor& change, const Tensor& move) {
    const Tensor product = Dot(change, move);
    if (!(product.Item<double>() > 1e-10)) return;

    l_.changes_ = Shifted(l_.changes_, change);
    l_.moves_ = Shifted(l_.moves_, move);
    l_.curvatures_ = Shifted(l_.curvatures_, 1 / product);
    l_.kept_ = std::min(l_.kept_ + 1, o_.history_size);
    l_.scale_ = product / Dot(change, change);
  }
  void StartHistory(const Tensor& like) {
    const TensorOptions options = {.type = like.dtype(), .device = like.device()};
    l_.changes_ = Zeros({o_.history_size, like.numel()}, options);
    l_.moves_ = Zeros({o_.history_size, like.numel()}, options);
    l_.curvatures_ = Zeros({o_.history_size}, options);
  }

  void MoveByRate(bool last) {
    MoveBy(l_.length_);
    if (last) return;  // The loss and gradient at the last point would not be used.
    Evaluate();
  }

  void Search(double slope, double reach) {
    std::vector<Tensor> start;
    for (const Tensor& parameter : l_.parameters()) start.push_back(parameter.Detach().Clone());
    std::map<double, double> largest_at = {{0, largest_}};  // By the step.
    const auto look = [&](double step) {
      MoveBy(step);
      Evaluate();
      largest_at[step] = largest_;
      for (size_t i = 0; i < start.size(); ++i) Tensor(l_.parameters()[i]).Copy_(start[i]);
      return LinePoint{step, loss_, slope_, gradient_};
    };
    const LinePoint at_start = {0, loss_, slope, gradient_};
    const LineSearch found = SearchLine(look, at_start, l_.length_, reach);
    loss_ = found.best.loss;
    gradient_ = found.best.gradient;
    l_.length_ = found.best.step;
    largest_ = largest_at.at(l_.length_);
    MoveBy(l_.length_);
  }

  // Calls the closure for the loss and gradient at the current parameters. The tape records it, unlike the
  // rest of the step.
  Tensor Evaluate() {
    Tensor loss = [&] {
      const WithGrad with_grad;
      const CallersOwnLines own_lines;
      return closure_();
    }();
    ++evaluations_;
    gradient_ = FlatGradient(l_.parameters());
    std::vector<Tensor> scalars = {loss, Amax(Abs(gradient_))};
    if (l_.direction_.defined()) scalars.push_back(Dot(gradient_, l_.direction_));
    const std::vector<double> read = Read(scalars);
    loss_ = read[0];
    largest_ = read[1];
    slope_ = read.back();
    return loss;
  }

  void MoveBy(double step) {
    int64_t offset = 0;
    for (Tensor parameter : l_.parameters()) {
      const Tensor flat = FlatOf(parameter.Detach());
      const Tensor moved = flat + l_.direction_.Narrow(0, offset, flat.numel()) * step;
      offset += flat.numel();
      if (hlo::IsComplex(parameter.dtype())) {
        parameter.Copy_(ViewAsComplex(moved.Reshape({-1, 2})).Reshape(parameter.dims()));
      } else {
        parameter.Copy_(moved.Reshape(parameter.dims()).To(parameter.dtype()));
      }
    }
  }

  Lbfgs& l_;
  const LbfgsOptions o_;
  const std::function<Tensor()>& closure_;
  // The results of the last evaluation: the loss, the gradient, the gradient's largest magnitude, and its
  // product with the direction.
  double loss_ = 0, largest_ = 0, slope_ = 0;
  Tensor gradient_;
  int64_t evaluations_ = 0;
};

Lbfgs::Lbfgs(std::vector<Tensor> parameters, const LbfgsOptions& options, Caller caller) : options_(options) {
  RequireLbfgsOptions(options, caller);
  AddGroup(std::move(parameters), optim::Identity(), kLbfgs, caller);
}

Tensor Lbfgs::Step(const std::function<Tensor()>& closure, Caller caller) {
  const CallerScope scope(caller);
  return LbfgsStep(*this, closure).Run();
}
void Lbfgs::Step(Caller caller) {
  RequireThat(false, "LBFGS takes a closure that computes the loss again", kLbfgs, caller);
}
void Lbfgs::StepUnless(const Tensor&, Caller caller) {
  RequireThat(false, "LBFGS computes the loss again, and its steps are not skipped on the device", kLbfgs,
              caller);
}

std::vector<std::pair<const char*, double>> Lbfgs::SettingsOf(size_t) const {
  return {{"lr", options_.lr},
          {"max_iter", static_cast<double>(options_.max_iter)},
          // -1 when the limit follows from max_iter.
          {"max_eval", static_cast<double>(options_.max_eval.value_or(-1))},
          {"tolerance_grad", options_.tolerance_grad},
          {"tolerance_change", options_.tolerance_change},
          {"history_size", static_cast<double>(options_.history_size)},
          {"strong_wolfe", options_.strong_wolfe ? 1.0 : 0.0}};
}
optim::Optimizer Lbfgs::RuleOf(const std::vector<double>&) const { return optim::Identity(); }
void Lbfgs::TakeSettings(size_t, const std::vector<double>& settings) {
  options_ = {.lr = settings[0],
              .max_iter = static_cast<int64_t>(settings[1]),
              .max_eval = settings[2] < 0 ? std::optional<int64_t>() : static_cast<int64_t>(settings[2]),
              .tolerance_grad = settings[3],
              .tolerance_change = settings[4],
              .history_size = static_cast<int64_t>(settings[5]),
              .strong_wolfe = settings[6] != 0};
}

// Sets the history to the newest of the given pairs, with rows of zeros before them where there are fewer
// than history_size.
void Lbfgs::TakeHistory(const std::vector<Tensor>& pairs, const Tensor& like) {
  kept_ = std::min(kept_, options_.history_size);
  const auto rows = [&](const Tensor& given, Dims dims) {
    const TensorOptions options = {.type = like.dtype(), .device = like.device()};
    if (!given.defined()) return Zeros(dims, options);
    dims[0] -= kept_;
    return Cat({Zeros(dims, options), given.Narrow(0, given.size(0) - kept_, kept_)});
  };
  changes_ = rows(pairs[0], {options_.history_size, like.numel()});
  moves_ = rows(pairs[1], {options_.history_size, like.numel()});
  curvatures_ = rows(pairs[2], {options_.history_size});
}

std::map<std::string, Tensor> Lbfgs::StateDict() const {
  std::map<std::string, Tensor> all = ParameterOptimizer::StateDict();
  const auto number = [](double value) { return FromValues<double>({value}, Dims{}); };
  all["state.n_iter"] = number(static_cast<double>(iterations_));
  all["state.func_evals"] = number(static_cast<double>(evaluations_));
  if (!direction_.defined()) return all;
  all["state.d"] = direction_;
  all["state.t"] = number(length_);
  all["state.prev_flat_grad"] = last_gradient_;
  all["state.prev_loss"] = number(last_loss_);
  all["state.H_diag"] = scale_;
  if (kept_ == 0) return all;
  const auto pairs = [&](const Tensor& history) {
    return history.Narrow(0, history.size(0) - kept_, kept_).Clone();
  };
  all["state.old_dirs"] = pairs(changes_);
  all["state.old_stps"] = pairs(moves_);
  all["state.ro"] = pairs(curvatures_);
  return all;
}

void Lbfgs::LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller) {
  const CallerScope scope(caller);
  const NoGrad no_grad;
  std::map<std::string, Tensor> settings, own;
  for (const auto& [name, tensor] : state) (name.starts_with("state.") ? own : settings)[name] = tensor;
  const std::vector<Tensor> like = {FlatGradient(parameters())};
  const auto take = [&](const char* name, const Dims& dims) {
    const auto found = own.find(absl::StrCat("state.", name));
    RequireThat(found != own.end(),
                absl::StrCat("the state does not fit the optimizer: missing state.", name), "load_state_dict",
                caller);
    RequireThat(
        found->second.dims() == dims,
        absl::StrCat("the state does not fit the optimizer: state.", name, " is of shape [",
                     absl::StrJoin(found->second.dims(), ","), "], here [", absl::StrJoin(dims, ","), "]"),
        "load_state_dict", caller);
    return found->second.To(like[0].dtype()).To(like[0].device()).Clone();
  };
  const Dims flat = like[0].dims();
  Lbfgs next = *this;
  next.iterations_ = own["state.n_iter"].defined() ? own["state.n_iter"].Item<int64_t>() : 0;
  next.evaluations_ = own["state.func_evals"].defined() ? own["state.func_evals"].Item<int64_t>() : 0;
  if (own.contains("state.d")) {
    next.direction_ = take("d", flat);
    next.last_gradient_ = take("prev_flat_grad", flat);
    next.scale_ = take("H_diag", {});
    next.length_ = take("t", {}).Item<double>();
    next.last_loss_ = take("prev_loss", {}).Item<double>();
  }
  next.kept_ = own.contains("state.ro") ? own["state.ro"].numel() : 0;
  std::vector<Tensor> history(3);
  if (next.kept_ > 0) {
    history = {take("old_dirs", {next.kept_, flat[0]}), take("old_stps", {next.kept_, flat[0]}),
               take("ro", {next.kept_})};
  }
  next.ParameterOptimizer::LoadStateDict(settings, caller);
  next.TakeHistory(history, like[0]);
  *this = std::move(next);
}

}  // namespace hlod
