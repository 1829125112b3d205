// Finds rules by their names, and has those of results that are selected elements of arrays.
#include "client/transform/rules/own.h"

#include "absl/container/flat_hash_map.h"
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod::lazy {
namespace {

// The results are the value and the index of a selected element along a dimension, which has size 1 in both
// or is removed.
Tangents AtIndex(const TangentArgs& c) {
  Lowering& l = c.l;
  const Dims kept = l.dims(c.x[1]), from = l.dims(c.x[2]);
  int64_t dim = 0;
  while (dim < RankOf(l, c.x[1]) && kept[dim] == from[dim]) ++dim;
  return {dim == RankOf(l, c.x[1]) ? c.t[2] : GatherAlong(l, c.t[2], dim, c.x[1]), Op{}};
}

// Elements that are written to given indices along dimension 1.
Tangents Placed(const TangentArgs& c) {
  const Op zeros = c.l.Full(c.l.type(c.x[0]), c.l.dims(c.x[0]), 0);
  return {ScatterAlong(c.l, zeros, 1, c.x[2], c.t[1], Combine::kAdd)};
}

// A selected element of a whole array (a median): its tangent is the mean of the tangents of the elements
// that equal it, where NaN equals NaN.
Tangents EqualShares(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = c.x[1], y = l.BroadcastTo(c.x[0], l.dims(x));
  const Op nans = l.b.Binary(hlo::kAnd, NanOps(l, x), NanOps(l, y));
  const Op equal = l.b.Binary(hlo::kOr, CompareOps(l, x, y, Order::kEq), nans);
  Dims all;
  for (int64_t dim = 0; dim < RankOf(l, x); ++dim) all.push_back(dim);
  const Op count = l.Reduce(hlo::kAdd, l.Convert(equal, l.type(x)), all);
  return {l.Reduce(hlo::kAdd, SelectOps(l, equal, c.t[1], N(l, x, 0)), all) / count};
}

constexpr OwnRow kArrayRules[] = {
    {"at_index", AtIndex},
    {"equal_shares", EqualShares},
    {"placed", Placed},
    {"lu", OwnLu},
    {"qr", OwnQr},
    {"svd", OwnSvd},
    {"eigh", OwnEigh},
    {"pinv", OwnPinv},
    {"determinant", OwnDeterminant},
    {"cofactors", OwnCofactors},
    {"det", OwnDet},
    {"slogdet", OwnSlogdet},
    {"reflected_qr", OwnReflectedQr},
};

struct NamedRule {
  OwnRow row;
  bool is_elementwise;
};

// Returns null when there is no rule of that name.
const NamedRule* FindRule(std::string_view name) {
  static const auto* const rules = [] {
    auto* made = new absl::flat_hash_map<std::string_view, NamedRule>;
    for (const auto rows : {ElementwiseOwnRules(), GammaOwnRules(), SpecialOwnRules(), ChloOwnRules()}) {
      for (const OwnRow& row : rows) made->try_emplace(row.name, NamedRule{row, true});
    }
    for (const OwnRow& row : kArrayRules) made->try_emplace(row.name, NamedRule{row, false});
    return made;
  }();
  const auto found = rules->find(name);
  return found == rules->end() ? nullptr : &found->second;
}

}  // namespace

TangentRule OwnTangentRule(std::string_view name) {
  const NamedRule* const found = FindRule(name);
  return found == nullptr ? nullptr : found->row.rule;
}

bool IsElementwiseRule(std::string_view name) {
  const NamedRule* const found = FindRule(name);
  return found != nullptr && found->is_elementwise;
}

size_t ReadAsValues(const hlo::Computation& computation, NodeId node) {
  if (computation[node].opcode() != hlo::kTuple) return 0;
  const NamedRule* const found = FindRule(OwnRule(computation, node));
  return found == nullptr ? 0 : OwnResults(computation, node) + found->row.values;
}

}  // namespace hlod::lazy
