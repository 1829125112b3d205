// Derivatives of ragged dots: each cotangent is a ragged dot in another mode (as in JAX's
// lax.ragged_dot_general).
#include <algorithm>

#include "client/tensor/ops/shape/movement.h"
#include "client/transform/autodiff/rules.h"
#include "common/hlo/dynamic/ragged_dot.h"

namespace hlod::lazy {
namespace {

bool Has(const Dims& dims, int64_t dimension) {
  return std::find(dims.begin(), dims.end(), dimension) != dims.end();
}
int64_t IndexIn(const Dims& dims, int64_t dimension) {
  return std::find(dims.begin(), dims.end(), dimension) - dims.begin();
}
Dims Counting(int64_t first, size_t count) {
  Dims dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(first + static_cast<int64_t>(i));
  return dims;
}

// The dimensions of a ragged dot by their role.
struct RaggedForm {
  explicit RaggedForm(const TransposeArgs& c) : ragged(c.Get<hlo::RaggedDotAttributes>()) {
    for (int64_t d = 0; d < c.operands[0]->rank(); ++d) {
      if (!Has(dot.lhs_batch, d) && !Has(dot.lhs_contracting, d)) lhs_free.push_back(d);
    }
    for (int64_t d = 0; d < c.operands[1]->rank(); ++d) {
      if (!Has(dot.rhs_batch, d) && !Has(dot.rhs_contracting, d) && !Has(ragged.rhs_group, d))
        rhs_free.push_back(d);
    }
  }
  const hlo::RaggedDotAttributes& ragged;
  const hlo::DotAttributes& dot = ragged.dot;
  const hlo::RaggedMode mode = RaggedModeOf(ragged);
  // If the result has a dimension of groups, it is the first.
  const int64_t first_batch = mode == hlo::RaggedMode::kContracting ? 1 : 0;
  const size_t batches = dot.lhs_batch.size();
  Dims lhs_free, rhs_free;
};

// Returns the counterparts of `sorted`, in ascending order of `sorted`; to[i] is the counterpart of from[i].
Dims Counterparts(Dims sorted, const Dims& from, const Dims& to) {
  std::sort(sorted.begin(), sorted.end());
  for (int64_t& dimension : sorted) dimension = to[IndexIn(from, dimension)];
  return sorted;
}

// A ragged dot that computes an operand's cotangent: dimension k of its result is dimension origin[k] of the
// operand.
struct Back {
  hlo::RaggedDotAttributes attributes;
  Dims origin;
  void Append(const Dims& dims) { origin.insert(origin.end(), dims.begin(), dims.end()); }
};

// Returns the ragged dot for the cotangent of lhs: the rows of the result's cotangent times the rhs of their
// group. If the result has one product per group, it is the rows of rhs times the cotangent of their group.
Back BackOfLhs(const RaggedForm& f) {
  Back back;
  hlo::DotAttributes& dot = back.attributes.dot;
  const int64_t rhs_free = f.first_batch + static_cast<int64_t>(f.batches + f.lhs_free.size());
  const Dims in_result = Counting(f.first_batch, f.batches), summed = Counting(rhs_free, f.rhs_free.size());
  back.Append(f.dot.lhs_batch);
  if (f.mode == hlo::RaggedMode::kFree) {
    dot.lhs_batch = in_result, dot.rhs_batch = f.dot.rhs_batch;
    dot.lhs_contracting = summed, dot.rhs_contracting = f.rhs_free;
    const int64_t row = IndexIn(f.lhs_free, f.ragged.lhs_ragged[0]);
    back.attributes.lhs_ragged = {static_cast<int64_t>(f.batches) + row};
    back.attributes.rhs_group = f.ragged.rhs_group;
    back.Append(f.lhs_free);
    back.Append(Counterparts(f.dot.rhs_contracting, f.dot.rhs_contracting, f.dot.lhs_contracting));
  } else {
    dot.lhs_batch = f.dot.rhs_batch, dot.rhs_batch = in_result;
    dot.lhs_contracting = f.rhs_free, dot.rhs_contracting = summed;
    const int64_t row = IndexIn(f.dot.lhs_contracting, f.ragged.lhs_ragged[0]);
    back.attributes.lhs_ragged = {f.dot.rhs_contracting[row]};
    back.attributes.rhs_group = {0};
    back.Append(Counterparts(f.dot.rhs_contracting, f.dot.rhs_contracting, f.dot.lhs_contracting));
    back.Append(f.lhs_free);
  }
  return back;
}

// Returns the ragged dot for the cotangent of rhs: one product of lhs and the result's cotangent per group.
// If the result has one product per group, it is the rows of lhs times the cotangent of their group.
Back BackOfRhs(const RaggedForm& f) {
  Back back;
  hlo::DotAttributes& dot = back.attributes.dot;
  const int64_t lhs_free = f.first_batch + static_cast<int64_t>(f.batches);
  dot.lhs_batch = f.dot.lhs_batch, dot.rhs_batch = Counting(f.first_batch, f.batches);
  dot.lhs_contracting = f.lhs_free, dot.rhs_contracting = Counting(lhs_free, f.lhs_free.size());
  back.attributes.lhs_ragged = f.ragged.lhs_ragged;
  if (f.mode == hlo::RaggedMode::kFree) back.Append(f.ragged.rhs_group);
  else back.attributes.rhs_group = {0};
  back.Append(f.dot.rhs_batch);
  back.Append(Counterparts(f.dot.lhs_contracting, f.dot.lhs_contracting, f.dot.rhs_contracting));
  back.Append(f.rhs_free);
  return back;
}

Cotangents TRaggedDot(const TransposeArgs& c) {
  const RaggedForm form(c);
  const size_t linear = c.IsLinear(0) ? 0 : 1;
  Cotangents all(3);
  if (form.mode == hlo::RaggedMode::kBatch) {  // Groups are whole batches, so it is a dot.
    const hlo::Attributes dot(form.dot);
    const TransposeArgs plain{c.l, hlo::kDot, c.shape, dot, c.called, c.x.subspan(0, 2), c.operands, c.ct};
    all[linear] = TheRules().transpose[static_cast<size_t>(hlo::kDot)](plain)[linear];
    return all;
  }
  if (c.operands[2]->rank() > 1 && form.mode == hlo::RaggedMode::kContracting &&
      form.dot.lhs_contracting.size() > 1) {
    Refuse(
        "a ragged-dot that sums over %d dimensions, with groups of its own for each index, has no derivative "
        "rule",
        form.dot.lhs_contracting.size());
  }
  Back back = linear == 0 ? BackOfLhs(form) : BackOfRhs(form);
  back.attributes.dot.precision = form.dot.precision;
  const PrimitiveType wide = WiderType(c.shape.type, c.l.type(c.x[1 - linear]));
  const Op ct = c.l.Convert(c.ct, wide), other = c.l.Convert(c.x[1 - linear], wide);
  const bool cotangent_first = linear == 0 && form.mode == hlo::RaggedMode::kFree;
  const Op product = c.l.b.Add(
      hlo::kRaggedDot, {cotangent_first ? ct : other, cotangent_first ? other : ct, c.x[2]}, back.attributes);
  Dims permutation(back.origin.size());
  for (size_t k = 0; k < back.origin.size(); ++k) permutation[back.origin[k]] = static_cast<int64_t>(k);
  all[linear] = ToOperandType(c.l, Permuted(c.l, product, permutation), c.operands[linear]->type);
  return all;
}

}  // namespace

void AddRaggedRules(Rules& rules) {
  rules.tangent[static_cast<size_t>(hlo::kRaggedDot)] = Bilinear;  // The sizes of groups are integers.
  rules.transpose[static_cast<size_t>(hlo::kRaggedDot)] = TRaggedDot;
}

}  // namespace hlod::lazy
