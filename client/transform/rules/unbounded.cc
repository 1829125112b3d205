// Reverse mode through while loops of loaded programs whose length is not known before they run. A series
// that is summed until its terms are small has no bound, but the memory for the residuals of its transpose
// must be bounded.
//
// The loop runs three times. The first run counts its iterations, n. The second keeps the state at the
// beginning of every segment of ceil(n / kSnapshots) iterations. Then the iterations are pulled back from the
// last one to the first, each from its state, which is recomputed from the beginning of its segment. So
// memory is kSnapshots states for every n, and the body runs about n^2 / (2 kSnapshots) more times: a few
// times as often, for series of tens of iterations.
//
// A loop written with While() is refused instead (while.cc), because its author can use ForiLoop().
#include "client/transform/rules/unbounded.h"

#include <functional>

#include "client/tensor/ops/shape/movement.h"
#include "client/transform/autodiff/control_rules.h"

namespace hlod::lazy {
namespace {

constexpr int64_t kSnapshots = 64;
constexpr char kReversible[] = "reversible_loop";

using Ops = std::vector<Op>;

// Appends a while over arrays and returns its final state. `test` and `step` append to the scratch traces of
// its condition and its body.
Ops LoopOver(Lowering& l, const Ops& init, const std::function<Op(Lowering&, const Ops&)>& test,
             const std::function<Ops(Lowering&, const Ops&)>& step) {
  Trace of_test(l.graph.place, Trace::Kind::kFunction), of_step(l.graph.place, Trace::Kind::kFunction);
  Lowering testing{of_test}, stepping{of_step};
  Ops tested, parameters;
  for (const Op x : init) {
    tested.push_back(of_test.op(of_test.ArgumentParameter(l.shape(x))));
    parameters.push_back(of_step.op(of_step.ArgumentParameter(l.shape(x))));
  }
  const Op holds = test(testing, tested);
  const Ops next = step(stepping, parameters);
  const Op end = l.b.While(l.b.Tuple(init), PlainCalleeOf("while_condition", of_test, tested, holds, true),
                           CalleeOf("while_body", of_step, parameters, next, true));
  MarkReversible(l.graph.mutable_notes(end.id));  // Marks the loop for a gradient of the gradient.
  return ElementsOf(l, end, 0, init.size());
}

Ops ArraysOf(const Ops& all, size_t begin, size_t count) {
  return {all.begin() + static_cast<ptrdiff_t>(begin), all.begin() + static_cast<ptrdiff_t>(begin + count)};
}
void AddTo(Ops& to, const Ops& more) { to.insert(to.end(), more.begin(), more.end()); }

class Unbounded {
 public:
  explicit Unbounded(const VjpArgs& c)
      : c_(c), body_(BodyOf(c.instruction().called()[0])), condition_(BodyOf(c.instruction().called()[1])) {}

  void Vjp() {
    Lowering& l = c_.l;
    Ops init;
    std::vector<Leaf> leaves = LeavesOf(c_.part.computation, c_.Operands()[0]);
    for (const Leaf& leaf : leaves) {
      init.push_back(ValueOf(c_.values, leaf));
      varying_.push_back(c_.is_active(leaf.node) &&
                         IsDifferentiable(body_.ParameterShape(init.size() - 1).type));
    }
    count_ = init.size();
    FindVarying();
    const Op length = Counted(init);
    const Op last = l.b.Binary(hlo::kMaximum, length, l.Number(hlo::kS64, 1)) - l.Number(hlo::kS64, 1);
    const Op segment = last / l.Number(hlo::kS64, kSnapshots) + l.Number(hlo::kS64, 1);
    const Ops snapshots = Recorded(init, segment);
    Ops cotangents;
    for (size_t i = 0; i < count_; ++i) {
      if (!varying_[i]) continue;
      const Op cotangent = c_.Cotangent(i);
      cotangents.push_back(IsZero(cotangent) ? Zeros(l, body_.ParameterShape(i)) : cotangent);
    }
    // The state consists of the iterations left, the length of a segment, the snapshots, and the cotangents.
    Ops all = {length, segment};
    AddTo(all, snapshots);
    AddTo(all, cotangents);
    all = LoopOver(
        l, all,
        [&](Lowering& t, const Ops& s) { return t.b.Compare(s[0], t.Number(hlo::kS64, 0), Order::kGt); },
        [&](Lowering& s, const Ops& state) { return PulledOnce(s, state); });
    size_t next = 2 + count_;
    for (size_t i = 0; i < count_; ++i) {
      if (varying_[i]) c_.add(leaves[i].node, leaves[i].element, all[next++]);
    }
  }

 private:
  using Order = hlo::ComparisonDirection;

  // Returns false for an element of the state that the body returns unchanged, which needs no snapshots.
  bool Changes(size_t i) const { return body_.outputs[i] != body_.parameters[i]; }

  void FindVarying() {
    const Subgraph nowhere{body_.computation};
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<bool> active = ActiveNodes(SubgraphOf(body_, varying_, nowhere, 0));
      for (size_t i = 0; i < count_; ++i) {
        if (varying_[i] || !active[body_.outputs[i]] || !IsDifferentiable(body_.ParameterShape(i).type))
          continue;
        varying_[i] = changed = true;
      }
    }
  }

  Op Holds(Lowering& l, const Ops& state) const {
    return RecomputedPrimals(l, condition_.computation, state).Of(condition_.outputs[0]);
  }
  Ops Next(Lowering& l, const Ops& state) const {
    RecomputedPrimals copies(l, body_.computation, state);
    Ops next;
    for (const NodeId output : body_.outputs) next.push_back(copies.Of(output));
    return next;
  }

  // Runs the loop to count its iterations; returns their number, an s64.
  Op Counted(const Ops& init) const {
    Ops state = {c_.l.Number(hlo::kS64, 0)};
    AddTo(state, init);
    return LoopOver(
        c_.l, state, [&](Lowering& t, const Ops& s) { return Holds(t, ArraysOf(s, 1, count_)); },
        [&](Lowering& l, const Ops& s) {
          Ops next = {s[0] + l.Number(hlo::kS64, 1)};
          AddTo(next, Next(l, ArraysOf(s, 1, count_)));
          return next;
        })[0];
  }

  // Runs the loop to take snapshots. Returns, for each array of the state, its values at the beginnings of
  // the segments, stacked, or the array itself if it does not change.
  Ops Recorded(const Ops& init, Op segment) const {
    Ops state = {c_.l.Number(hlo::kS64, 0), segment};
    AddTo(state, init);
    for (size_t i = 0; i < count_; ++i) {
      Dims dims = c_.l.dims(init[i]);
      dims.insert(dims.begin(), kSnapshots);
      if (Changes(i)) state.push_back(c_.l.Full(c_.l.type(init[i]), dims, 0));
    }
    const Ops end = LoopOver(
        c_.l, state, [&](Lowering& t, const Ops& s) { return Holds(t, ArraysOf(s, 2, count_)); },
        [&](Lowering& l, const Ops& s) {
          const Ops now = ArraysOf(s, 2, count_);
          Ops next = {s[0] + l.Number(hlo::kS64, 1), s[1]};
          AddTo(next, Next(l, now));
          const Op place = s[0] / s[1], first = l.b.Compare(place * s[1], s[0], Order::kEq);
          size_t at = 2 + count_;
          for (size_t i = 0; i < count_; ++i) {
            if (!Changes(i)) continue;
            const Op kept = s[at++];
            Dims dims = l.dims(now[i]);
            dims.insert(dims.begin(), 1);
            const Ops starts = Starts(l, place, dims.size());
            const Op old = l.b.DynamicSlice(kept, starts, dims);
            next.push_back(
                l.b.DynamicUpdateSlice(kept, l.b.Select(first, l.Reshape(now[i], dims), old), starts));
          }
          return next;
        });
    Ops snapshots;
    size_t at = 2 + count_;
    for (size_t i = 0; i < count_; ++i) snapshots.push_back(Changes(i) ? end[at++] : init[i]);
    return snapshots;
  }

  static Ops Starts(Lowering& l, Op place, size_t rank) {
    Ops starts(rank, l.Number(hlo::kS64, 0));
    starts[0] = place;
    return starts;
  }

  // Pulls back one iteration, number state[0] - 1, and returns the next state.
  Ops PulledOnce(Lowering& l, const Ops& state) const {
    const Op iteration = state[0] - l.Number(hlo::kS64, 1), place = iteration / state[1];
    Ops now = {place * state[1], iteration};
    for (size_t i = 0; i < count_; ++i) {
      const Op kept = state[2 + i];
      if (!Changes(i)) {
        now.push_back(kept);
        continue;
      }
      Dims dims = l.dims(kept);
      dims[0] = 1;
      const Op one = l.b.DynamicSlice(kept, Starts(l, place, dims.size()), dims);
      now.push_back(l.Reshape(one, Dims(dims.begin() + 1, dims.end())));
    }
    now = LoopOver(
        l, now, [&](Lowering& t, const Ops& s) { return t.b.Compare(s[0], s[1], Order::kLt); },
        [&](Lowering& inner, const Ops& s) {
          Ops next = {s[0] + inner.Number(hlo::kS64, 1), s[1]};
          AddTo(next, Next(inner, ArraysOf(s, 2, count_)));
          return next;
        });
    RecomputedPrimals copies(l, body_.computation, ArraysOf(now, 2, count_));
    Ops given(count_);
    size_t at = 2 + count_;
    for (size_t i = 0; i < count_; ++i) {
      if (varying_[i]) given[i] = state[at++];
    }
    const Ops pulled =
        AppendVjp(l, SubgraphOf(body_, varying_, c_.part, c_.node), copies, body_.outputs, given);
    Ops next = {iteration, state[1]};
    AddTo(next, ArraysOf(state, 2, count_));
    for (size_t i = 0; i < count_; ++i) {
      if (varying_[i]) next.push_back(IsZero(pulled[i]) ? Zeros(l, body_.ParameterShape(i)) : pulled[i]);
    }
    return next;
  }

  const VjpArgs& c_;
  const CalleeBody body_, condition_;
  size_t count_ = 0;
  std::vector<bool> varying_;
};

}  // namespace

void MarkReversible(hlo::Notes& notes) { notes.frontend_attributes[kReversible] = "true"; }

bool IsReversible(const hlo::Computation& computation, NodeId node) {
  const hlo::Notes* const notes = computation.notes(node);
  return notes != nullptr && notes->frontend_attributes.contains(kReversible);
}

void UnboundedWhileVjp(const VjpArgs& c) { Unbounded(c).Vjp(); }

}  // namespace hlod::lazy
