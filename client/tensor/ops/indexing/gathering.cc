// Reads the elements at given indices.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/dynamic.h"
#include "client/tensor/ops/shape/known.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/reduction.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::WrapDim;

namespace {

// Returns the row and column indices on the kept side of a diagonal.
Tensor TriangleIndices(const lazy::Operation& operation, int64_t rows, int64_t columns, int64_t offset,
                       const std::optional<Device>& device, const Caller& caller, bool lower) {
  constexpr int64_t kMost = int64_t{1} << 27;
  std::vector<int64_t> values, second;
  lazy::Explain(operation, {}, caller, [&] {
    if (rows < 0 || columns < 0) Refuse("sizes %d and %d must not be negative", rows, columns);
    if (rows > kMost) Refuse("%d rows are more than %d", rows, kMost);
    const int64_t first = std::clamp(offset, -rows, std::min(columns, INT64_MAX / 2)) + (lower ? 1 : 0);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = std::clamp<int64_t>(i + first, 0, columns);
      if ((lower ? at : columns - at) > kMost - static_cast<int64_t>(values.size()))
        Refuse("the indices of %d rows and %d columns are more than %d", rows, columns, kMost);
      for (int64_t j = lower ? 0 : at; j < (lower ? at : columns); ++j) {
        values.push_back(i);
        second.push_back(j);
      }
    }
  });
  const auto count = static_cast<int64_t>(values.size());
  values.insert(values.end(), second.begin(), second.end());
  return FromValues<int64_t>(values, Dims{2, count}, device, caller);
}

}  // namespace

Tensor IndexSelect(const Operand& x, int64_t dim, const Operand& index) {
  return lazy::Call(lazy::ops::IndexSelect, {x, index}, [&](Lowering& l, Operands o) {
    if (lazy::RankOf(l, o[1]) > 1)
      Refuse("the index must be a vector, not of shape %s", ListText(l.dims(o[1])));
    const int64_t at = WrapDim(dim, lazy::RankOf(l, o[0]));
    const bool scalar = l.dims(o[0]).empty();
    lazy::CheckIndices(l, o[1], at, scalar ? 1 : l.dims(o[0])[at]);
    if (scalar) return o[0];
    return lazy::SelectSlices(l, o[0], at, lazy::Flat(l, o[1]));
  });
}

Tensor Gather(const Operand& x, int64_t dim, const Operand& index) {
  return lazy::Call(lazy::ops::Gather, {x, index}, [&](Lowering& l, Operands o) {
    const int64_t at = WrapDim(dim, lazy::RankOf(l, o[0]));
    lazy::CheckIndices(l, o[1], at, l.dims(o[0]).empty() ? 1 : l.dims(o[0])[at]);
    // A scalar is treated as a vector of one element.
    if (l.dims(o[0]).empty() && lazy::RankOf(l, o[1]) == 1) {
      return lazy::GatherAlong(l, l.Reshape(o[0], {1}), 0, o[1]);
    }
    return lazy::GatherAlong(l, o[0], at, o[1]);
  });
}

Tensor Take(const Operand& x, const Operand& index) {
  return lazy::Call(lazy::ops::Take, {x, index}, [](Lowering& l, Operands o) {
    const Op flat = lazy::Flat(l, o[0]);
    lazy::CheckFlatIndices(l, o[1], l.dims(flat)[0], lazy::FromEnd::kYes);
    return lazy::SelectSlices(l, flat, 0, lazy::WrapNegative(l, o[1], l.dims(flat)[0]));
  });
}

Tensor TakeAlongDim(const Operand& x, const Operand& index, std::optional<int64_t> dim) {
  return lazy::Call(lazy::ops::TakeAlongDim, {x, index}, [&](Lowering& l, Operands o) {
    Op in = o[0], at = o[1];
    lazy::RequireIndex(l, at);
    if (!dim.has_value()) {
      const int64_t count = lazy::Count(l.dims(in));
      lazy::CheckFlatIndices(l, at, count, lazy::FromEnd::kYes);
      return lazy::GatherAlong(l, lazy::Flat(l, in), 0, lazy::WrapNegative(l, lazy::Flat(l, at), count));
    }
    const int64_t along = WrapDim(*dim, lazy::RankOf(l, in));
    if (lazy::RankOf(l, in) != lazy::RankOf(l, at)) {
      Refuse("shapes %s and %s differ in rank", ListText(l.dims(in)), ListText(l.dims(at)));
    }
    lazy::CheckIndices(l, at, along, l.dims(in).empty() ? 1 : l.dims(in)[along], lazy::FromEnd::kYes);
    if (l.dims(in).empty()) return in;
    Dims a = l.dims(in), b = l.dims(at);
    const int64_t size = a[along], taken = b[along];
    a[along] = b[along] = 1;
    a = b = lazy::BroadcastDims(a, b);
    a[along] = size;
    b[along] = taken;
    return lazy::GatherAlong(l, l.BroadcastTo(in, a), along,
                             lazy::WrapNegative(l, l.BroadcastTo(at, b), size));
  });
}

Tensor OneHot(const Operand& x, std::optional<int64_t> classes) {
  int64_t count = classes.value_or(0);
  const Tensor& index = lazy::TensorOf(lazy::ops::OneHot, x);
  if (!classes.has_value()) {
    lazy::Explain(lazy::ops::OneHot, {&x, 1}, x.caller(), [&] {
      if (index.numel() == 0) Refuse("without elements the number of classes cannot be read");
    });
    const Tensor largest = lazy::Call(lazy::ops::OneHot, {x}, [](Lowering& l, Operands o) {
      return l.Reduce(hlo::kMaximum, lazy::Flat(l, l.Convert(o[0], hlo::kS64)), {0});
    });
    count = 1 + lazy::ReadSizes(lazy::ops::OneHot, largest, x.caller())[0];
  }
  return lazy::Call(lazy::ops::OneHot, {x}, [count](Lowering& l, Operands o) {
    lazy::RequireIndex(l, o[0]);
    if (count <= 0) Refuse("the number of classes (%d) must be positive", count);
    if (const auto known = lazy::KnownValue(l, o[0]); known != nullptr) {
      const auto outside = lazy::Outside(*known, 0, count);
      if (outside) Refuse("class %d is out of range for %d classes", *outside, count);
    }
    Dims dims = l.dims(o[0]), mapping;
    for (int64_t i = 0; i < lazy::RankOf(l, o[0]); ++i) mapping.push_back(i);
    dims.push_back(count);
    const Op at = l.b.Broadcast(l.Convert(o[0], hlo::kS64), dims, mapping);
    const Op counter = lazy::IndexIota(l, dims, static_cast<int64_t>(dims.size()) - 1);
    return l.b.Convert(l.b.Compare(at, counter, hlo::ComparisonDirection::kEq), hlo::kS64);
  });
}

Tensor TrilIndices(int64_t rows, int64_t columns, int64_t offset, std::optional<Device> device,
                   Caller caller) {
  return TriangleIndices(lazy::ops::TrilIndices, rows, columns, offset, device, caller, true);
}
Tensor TriuIndices(int64_t rows, int64_t columns, int64_t offset, std::optional<Device> device,
                   Caller caller) {
  return TriangleIndices(lazy::ops::TriuIndices, rows, columns, offset, device, caller, false);
}

}  // namespace hlod
