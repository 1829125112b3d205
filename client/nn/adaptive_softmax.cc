// The adaptive softmax: a head for frequent classes and one output per tail, and tails for the others.
#include "hlod/nn/adaptive_softmax.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/ops/nn/loss.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/softmax.h"
#include "hlod/ops/reduction.h"

namespace hlod::nn {
namespace {

constexpr char kName[] = "adaptive_log_softmax_with_loss";

// Returns the cutoffs followed by the number of classes; throws unless they ascend between 1 and it.
std::vector<int64_t> Ascending(std::vector<int64_t> cutoffs, int64_t classes, const Caller& caller) {
  cutoffs.push_back(classes);
  for (size_t i = 0; i < cutoffs.size(); ++i) {
    if (cutoffs.size() > 1 && cutoffs[i] > (i == 0 ? 0 : cutoffs[i - 1])) continue;
    cutoffs.pop_back();
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("the cutoffs [", absl::StrJoin(cutoffs, ", "),
                             "] are not one or more numbers that ascend from 1 to below the number of "
                             "classes, ",
                             classes),
                kName, caller);
  }
  return cutoffs;
}

}  // namespace

AdaptiveLogSoftmaxWithLoss::AdaptiveLogSoftmaxWithLoss(Module& parent, PartName name, int64_t size,
                                                       int64_t classes, std::vector<int64_t> cutoffs,
                                                       double div_value, bool head_bias)
    : Module(parent, std::move(name)),
      head(*this, Part("head"), size,
           Ascending(cutoffs, classes, made_at())[0] + static_cast<int64_t>(cutoffs.size()), head_bias),
      tail(*this, Part("tail")),
      cutoffs_(Ascending(cutoffs, classes, made_at())) {
  if (!(div_value > 0)) {
    lazy::Throw(ErrorKind::kArgument, absl::StrCat("div_value (", div_value, ") is not positive"), kName,
                made_at());
  }
  for (size_t i = 0; i + 1 < cutoffs_.size(); ++i) {
    const double divisor = std::pow(div_value, static_cast<double>(i + 1));
    const double quotient = std::floor(static_cast<double>(size) / divisor);
    if (quotient < 1 || quotient >= 0x1p63) {
      lazy::Throw(ErrorKind::kArgument,
                  absl::StrCat("tail ", i, quotient < 1 ? " would have no width: " : " would be too wide: ",
                               size, " is divided by ", divisor),
                  kName, made_at());
    }
    const auto width = static_cast<int64_t>(quotient);
    Sequential& projection = tail.Append();
    projection.Add<Linear>(size, width, false).Add<Linear>(width, cutoffs_[i + 1] - cutoffs_[i], false);
  }
}

AdaptiveLogSoftmaxWithLoss::Result AdaptiveLogSoftmaxWithLoss::operator()(const Tensor& x,
                                                                          const Tensor& target,
                                                                          Caller caller) const {
  std::vector<Tensor> both = ForwardAll(caller, {x, target}, [&](Tensors in) {
    const lazy::LossCall call(kName, {&in[0], &in[1]}, caller);
    call.Require(in[0].rank() == 1 || in[0].rank() == 2,
                 "the input of shape %s is neither rows, [rows, size], nor one vector",
                 lazy::ListText(in[0].dims()));
    call.RequireClasses(in[0], in[1], {});
    call.CheckClasses(in[1], cutoffs_.back());
    const Tensor log_head = hlod::LogSoftmax(head(in[0]), -1);
    const auto at = [](const Tensor& table, const Tensor& index) {
      return Gather(table, -1, index.Unsqueeze(-1)).Squeeze(-1);
    };
    const int64_t frequent = cutoffs_[0];
    Tensor output = at(log_head, Clamp(in[1], Operand(0), Operand(frequent - 1)));
    for (size_t i = 0; i + 1 < cutoffs_.size(); ++i) {
      const int64_t first = cutoffs_[i], end = cutoffs_[i + 1];
      const Tensor log_tail = hlod::LogSoftmax(tail[static_cast<int64_t>(i)](in[0]), -1);
      const Tensor within = Clamp(in[1] - first, Operand(0), Operand(end - first - 1));
      const Tensor whole = log_head.Select(-1, frequent + static_cast<int64_t>(i)) + at(log_tail, within);
      output = Where(Ge(in[1], first), whole, output);
    }
    return std::vector<Tensor>{output, -Mean(output)};
  });
  return {both[0], both[1]};
}

Tensor AdaptiveLogSoftmaxWithLoss::LogProb(const Tensor& x, Caller caller) const {
  const CallerScope scope(caller);
  const Tensor log_head = hlod::LogSoftmax(head(x), -1);
  std::vector<Tensor> parts = {log_head.Slice(-1, 0, cutoffs_[0])};
  for (size_t i = 0; i + 1 < cutoffs_.size(); ++i) {
    const Tensor log_tail = hlod::LogSoftmax(tail[static_cast<int64_t>(i)](x), -1);
    parts.push_back(log_tail + log_head.Select(-1, cutoffs_[0] + static_cast<int64_t>(i)).Unsqueeze(-1));
  }
  return Cat(parts, -1);
}

Tensor AdaptiveLogSoftmaxWithLoss::Predict(const Tensor& x, Caller caller) const {
  const CallerScope scope(caller);
  return Argmax(LogProb(x), -1);
}

}  // namespace hlod::nn
