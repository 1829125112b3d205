// Optax's CTC loss: the forward recursion over labels and the blanks between them, as a Scan over time. It
// differs from hlod::CtcLoss() in its arguments, and in that an impossible event has a large finite loss.
#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/softmax.h"
#include "hlod/ops/reduction.h"
#include "hlod/optim/optim_losses.h"
#include "hlod/transform/control.h"

namespace hlod::optim {
namespace {

// The forward probabilities at a time: of a blank after each label, [batch, length + 1], and of each label.
struct Alpha {
  Tensor blank, label;
};
struct Frame {
  Tensor label, blank, padding;  // [batch, length], [batch, 1], [batch].
};

// Adds `more` to the probabilities of blanks after the first.
Tensor WithMore(const Tensor& blank, const Tensor& more) {
  const Tensor rest = blank.Narrow(1, 1, blank.size(1) - 1);
  return Cat({blank.Narrow(1, 0, 1), Logaddexp(rest, more)}, 1);
}

// [..., classes]: 1 where the class is that of `index`; zeros when it is none.
Tensor OneHotOf(const Tensor& index, int64_t classes, PrimitiveType type) {
  const Tensor all = Arange(0, classes, 1, {.type = kS64, .device = index.device()});
  return Eq(index.To(kS64).Unsqueeze(-1), all).To(type);
}

void Check(const Tensor& logits, const Tensor& logit_paddings, const Tensor& labels,
           const Tensor& label_paddings, const Caller& caller) {
  const auto text = [](const Tensor& x) { return hlo::ToStringNoLayout(x.shape()); };
  const bool fit = logits.rank() == 3 && labels.rank() == 2 && logits.size(0) == labels.size(0) &&
                   logit_paddings.dims() == Dims{logits.size(0), logits.size(1)} &&
                   label_paddings.dims() == labels.dims() && logits.size(1) > 0 && labels.size(1) > 0;
  if (fit) return;
  RequireThat(false,
              absl::StrCat("the logits are ", text(logits), " with paddings ", text(logit_paddings),
                           ", the labels ", text(labels), " with paddings ", text(label_paddings),
                           "; [batch, time, classes], [batch, time], [batch, length] and [batch, length] are "
                           "needed, none of them empty"),
              "ctc_loss", caller);
}

}  // namespace

CtcResult CtcLossWithForwardProbs(const Tensor& logits, const Tensor& logit_paddings, const Tensor& labels,
                                  const Tensor& label_paddings, const CtcOptions& options, Caller caller) {
  const CallerScope scope(caller);
  Check(logits, logit_paddings, labels, label_paddings, caller);
  const int64_t batch = logits.size(0), classes = logits.size(2), length = labels.size(1);
  RequireThat(options.blank_id >= 0 && options.blank_id < classes,
              absl::StrCat("blank_id (", options.blank_id, ") is not one of ", classes, " classes"),
              "ctc_loss", caller);
  const PrimitiveType type = logits.dtype();
  const TensorOptions like = {.type = type, .device = logits.device()};
  const double epsilon = options.log_epsilon;
  const Tensor logs = LogSoftmax(logits, -1);
  const Tensor of_labels = MatMul(logs, OneHotOf(labels, classes, type).Transpose(1, 2)).Transpose(0, 1);
  const Tensor of_blanks = logs.Narrow(2, options.blank_id, 1).Transpose(0, 1);
  // A blank must lie between a label and the next one when the two are equal.
  const Tensor again = Cat({Eq(labels.Narrow(1, 0, length - 1), labels.Narrow(1, 1, length - 1)).To(type),
                            Zeros({batch, 1}, like)},
                           1);
  const Alpha first = {Cat({Zeros({batch, 1}, like), Full({batch, length}, epsilon, like)}, 1),
                       Full({batch, length}, epsilon, like)};
  const auto step = [&](const Alpha& before, const Frame& frame) {
    const Tensor reached = WithMore(before.blank, before.label + again * epsilon);
    const Tensor label = Logaddexp(reached.Narrow(1, 0, length) + frame.label, before.label + frame.label);
    const Tensor blank = WithMore(reached + frame.blank, before.label + frame.blank + (1 - again) * epsilon);
    const Tensor pad = frame.padding.Unsqueeze(1);
    const Alpha next = {pad * before.blank + (1 - pad) * blank, pad * before.label + (1 - pad) * label};
    return std::pair(next, next);
  };
  const Frame frames = {of_labels, of_blanks, logit_paddings.To(type).Transpose(0, 1)};
  const Alpha all = Scan(step, first, frames).second;
  const int64_t last = all.blank.size(0) - 1;
  const Tensor end = WithMore(all.blank.Select(0, last), all.label.Select(0, last));
  const Tensor lengths = length - Sum(label_paddings, {1}).To(kS64);
  return {-Sum(end * OneHotOf(lengths, length + 1, type), {1}),
          Cat({all.blank.Narrow(0, 0, last), end.Unsqueeze(0)}, 0), all.label};
}

}  // namespace hlod::optim
