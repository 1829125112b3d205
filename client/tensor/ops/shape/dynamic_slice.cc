// Slices whose starts the program computes.
#include "hlod/ops/dynamic_slice.h"

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/creation.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

namespace {

constexpr lazy::Operation kSlice = {"DynamicSlice", "dynamic_slice", lazy::Promotion::kNone,
                                    "a slice at computed starts"};
constexpr lazy::Operation kUpdate = {"DynamicUpdateSlice", "dynamic_update_slice", lazy::Promotion::kNone,
                                     "a copy with a slice replaced at computed starts"};

// Returns `first` followed by the starts, numbers as s64 tensors. The operands point to tensors in `kept`,
// which must outlive them and not be resized.
std::vector<Operand> WithStarts(const lazy::Operation& operation, std::vector<Operand> first,
                                const std::vector<Operand>& starts, std::vector<Tensor>& kept) {
  const Caller caller = first[0].caller();
  const auto rank = static_cast<size_t>(lazy::TensorOf(operation, first[0]).rank());
  lazy::Explain(operation, first, caller, [&] {
    if (starts.size() != rank) {
      Refuse("there are %d starts for a tensor of %d dimensions", starts.size(), rank);
    }
    for (const Operand& start : starts) {
      const Tensor* const tensor = start.tensor();
      const bool number = tensor == nullptr && start.scalar().is_integer();
      const bool scalar =
          tensor != nullptr && tensor->defined() && tensor->rank() == 0 && hlo::IsInteger(tensor->dtype());
      if (!number && !scalar) Refuse("a start must be an integer or a tensor of one, without dimensions");
    }
  });
  kept.reserve(starts.size());
  for (const Operand& start : starts) {
    if (start.tensor() == nullptr) kept.push_back(FromValues<int64_t>({start.scalar().ToInt()}, Dims{}));
    else kept.push_back(*start.tensor());
    first.emplace_back(kept.back(), caller);
  }
  return first;
}

// Returns the starts as s64; a negative one counts from the end.
std::vector<Op> StartsOf(Lowering& l, Operands given, const Dims& dims) {
  std::vector<Op> starts;
  const Op zero = l.Number(hlo::kS64, 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Op start = l.Convert(given[i], hlo::kS64);
    starts.push_back(l.b.Select(l.b.Compare(start, zero, hlo::ComparisonDirection::kLt),
                                l.b.Binary(hlo::kAdd, start, l.Number(hlo::kS64, dims[i])), start));
  }
  return starts;
}

void RequireInside(const Dims& sizes, const Dims& dims) {
  bool inside = sizes.size() == dims.size();
  for (size_t i = 0; i < sizes.size() && inside; ++i) inside = sizes[i] >= 0 && sizes[i] <= dims[i];
  if (!inside) Refuse("a slice of sizes %s is not inside %s", ListText(sizes), ListText(dims));
}

}  // namespace

Tensor DynamicSlice(const Operand& x, const std::vector<Operand>& starts, DimList sizes) {
  const CallerScope scope(x.caller());
  std::vector<Tensor> kept;
  const std::vector<Operand> operands = WithStarts(kSlice, {x}, starts, kept);
  const Dims wanted(sizes.begin(), sizes.end());
  return lazy::Call(kSlice, operands, [&](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]);
    RequireInside(wanted, dims);
    if (dims.empty()) return o[0];
    return l.b.DynamicSlice(o[0], StartsOf(l, o.subspan(1), dims), wanted);
  });
}

Tensor DynamicUpdateSlice(const Operand& x, const Operand& update, const std::vector<Operand>& starts) {
  const CallerScope scope(x.caller());
  lazy::TensorOf(kUpdate, update);
  std::vector<Tensor> kept;
  const std::vector<Operand> operands = WithStarts(kUpdate, {x, update}, starts, kept);
  return lazy::Call(kUpdate, operands, [&](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]), part = l.dims(o[1]);
    RequireInside(part, dims);
    const Op value = l.Convert(o[1], l.type(o[0]));
    if (dims.empty()) return value;
    return l.b.DynamicUpdateSlice(o[0], value, StartsOf(l, o.subspan(2), dims));
  });
}

}  // namespace hlod
