// Lookahead(): the leaves are the fast parameters, then the slow ones. State: the steps since the last
// synchronization, then the state of the fast optimizer.
#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/transformation.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/optim/optim_wrappers.h"

namespace hlod::optim {
namespace {

class LookaheadWrapper final : public Transformation {
 public:
  LookaheadWrapper(Optimizer fast, int64_t period, Number step_size, bool reset)
      : fast_(std::move(fast)), period_(period), step_size_(std::move(step_size)), reset_(reset) {}

  size_t part_count() const override { return 1 + fast_.part_count(); }
  std::vector<Tensors> InitParts(const Tensors& params) const override {
    std::vector<Tensors> parts = {{ZeroCount(params)}};
    for (Tensors& part : fast_.InitLeaves(Fast(params)).parts) parts.push_back(std::move(part));
    return parts;
  }
  std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state, const Tensors& params,
                                   const ExtraArgs& extra) const override {
    const Tensors fast = Fast(params);
    const size_t n = fast.size();
    Tensors moves = Fast(updates);
    State next = fast_.UpdateLeaves(moves, State{{state.begin() + 1, state.end()}}, fast, extra);
    const Tensor& steps = state[0][0];
    const Tensor synced = Eq(steps, period_ - 1);
    for (size_t i = 0; i < n; ++i) {
      const Tensor& slow = params[n + i];
      const Tensor move = moves[i].defined() ? moves[i] : ZerosLike(fast[i]);
      const Tensor apart = fast[i] + move - slow;
      updates[i] = Where(synced, move - apart * OneMinus(step_size_), move).To(fast[i].dtype());
      updates[n + i] = Where(synced, apart * step_size_, 0).To(slow.dtype());
    }
    std::vector<Tensors> parts = {{Remainder(steps + 1, period_).To(steps.dtype())}};
    const State first = reset_ ? fast_.InitLeaves(fast) : State{};
    for (size_t i = 0; i < next.parts.size(); ++i) {
      for (size_t j = 0; reset_ && j < next.parts[i].size(); ++j) {
        Tensor& kept = next.parts[i][j];
        kept = Where(synced, first.parts[i][j], kept).To(kept.dtype());
      }
      parts.push_back(std::move(next.parts[i]));
    }
    return parts;
  }

 private:
  static Tensors Fast(const Tensors& leaves) {
    RequireThat(leaves.size() % 2 == 0,
                absl::StrCat("the parameters have ", leaves.size(),
                             " leaves, and are not LookaheadParams: a fast one for each slow one"),
                "lookahead", Caller{});
    return {leaves.begin(), leaves.begin() + static_cast<ptrdiff_t>(leaves.size() / 2)};
  }

  const Optimizer fast_;
  const int64_t period_;
  const Number step_size_;
  const bool reset_;
};

}  // namespace

Optimizer Lookahead(const Optimizer& fast, int64_t sync_period, const Number& slow_step_size,
                    bool reset_state, Caller caller) {
  RequireWithin(Limit::kPositive, "sync_period", static_cast<double>(sync_period), "lookahead", caller);
  return Make<LookaheadWrapper>(fast, sync_period, slow_step_size, reset_state);
}

}  // namespace hlod::optim
