// Blocks of arrays by index maps. A map of numbers is called at once for every step; a map of tensors is
// traced as part of the body.
#include "client/transform/functions/blocked.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

// Advances a position in the grid by one step.
void Advance(const Dims& grid, Dims& at) {
  for (size_t d = grid.size(); d-- > 0;) {
    if (++at[d] < grid[d]) return;
    at[d] = 0;
  }
}

Op NumberOf(Lowering& l, const Coordinate& coordinate, Operands o) {
  if (!coordinate.table.empty()) {
    const auto steps = static_cast<int64_t>(coordinate.table.size());
    Literal table(Shape::Array(hlo::kS64, {steps}));
    std::copy(coordinate.table.begin(), coordinate.table.end(), table.data<int64_t>().begin());
    const Op number = l.b.DynamicSlice(l.b.Constant(std::move(table)), {o[0]}, {1});
    return l.Reshape(number, {});
  }
  std::optional<Op> sum;
  for (size_t d = 0; d < coordinate.factors.size(); ++d) {
    if (coordinate.factors[d] == 0) continue;
    Op term = l.Convert(o[1 + d], hlo::kS64);
    if (coordinate.factors[d] != 1) term = term * l.Number(hlo::kS64, coordinate.factors[d]);
    sum = sum.has_value() ? *sum + term : term;
  }
  const Op zero = l.Number(hlo::kS64, coordinate.at_zero);
  if (!sum.has_value()) return zero;
  return coordinate.at_zero == 0 ? *sum : *sum + zero;
}

}  // namespace

int64_t StepsOf(const Dims& grid) {
  int64_t steps = 1;
  for (const int64_t size : grid) steps *= size;
  return steps;
}

Blocked::Blocked(const std::string& kernel, std::string what, Shape array, const BlockSpec& spec,
                 const Dims& grid, const Caller& caller)
    : kernel_(kernel), what_(std::move(what)), array_(std::move(array)), spec_(spec), caller_(caller) {
  sizes_ = spec.sizes.value_or(array_.dims);
  if (sizes_.size() != array_.dims.size()) {
    Fail(absl::StrCat("has ", array_.dims.size(), " dimensions; its block ", ListText(sizes_), " has ",
                      sizes_.size()));
  }
  for (size_t d = 0; d < sizes_.size(); ++d) {
    const bool squeezed = sizes_[d] == kSqueezed;
    if (spec.sizes.has_value() && sizes_[d] < 1 && !squeezed)
      Fail(
          absl::StrCat("has the block ", ListText(sizes_), "; a block's sizes are 1 at least, or kSqueezed"));
    if (squeezed) sizes_[d] = 1;
    else block_.push_back(sizes_[d]);
    counts_.push_back(sizes_[d] == 0 ? 1 : array_.dims[d] / sizes_[d] + (array_.dims[d] % sizes_[d] != 0));
    if (counts_[d] == 0) Fail(absl::StrCat("has no blocks of ", ListText(sizes_)));
    padded_.push_back(counts_[d] * sizes_[d]);
  }
  if (spec.at.tensors() == nullptr) FindCoordinates(grid);
}

Tensor Blocked::Pad(const Tensor& x) const {
  if (padded_ == array_.dims) return x;
  return lazy::Call(kKernel, {Operand(x, caller_)}, [&](Lowering& l, Operands o) {
    std::vector<hlo::PadDimension> padding;
    for (size_t d = 0; d < padded_.size(); ++d) padding.push_back({0, padded_[d] - array_.dims[d], 0});
    return l.b.Pad(o[0], l.Number(array_.type, 0), padding);
  });
}

Tensor Blocked::Trim(const Tensor& x) const {
  if (padded_ == array_.dims) return x;
  return lazy::Call(kKernel, {Operand(x, caller_)}, [&](Lowering& l, Operands o) {
    return l.b.Slice(o[0], Dims(array_.dims.size(), 0), array_.dims, Dims(array_.dims.size(), 1));
  });
}

Tensor Blocked::Read(const Running& running, const Tensor& padded) {
  if (IsWhole()) return Squeezed(padded);
  std::vector<Operand> operands = {Operand(padded, caller_)};
  AddIndex(running, operands);
  return lazy::CallSeveral(kKernel, operands, [&](Lowering& l, Operands o) {
    return std::vector<Op>{l.Reshape(l.b.DynamicSlice(o[0], Starts(l, o.subspan(1)), sizes_), block_)};
  })[0];
}

Tensor Blocked::Write(const Running& running, const Tensor& padded, const Tensor& block) {
  std::vector<Operand> operands = {Operand(padded, caller_), Operand(block, caller_)};
  AddIndex(running, operands);
  return lazy::CallSeveral(kKernel, operands, [&](Lowering& l, Operands o) {
    const Op update = l.Reshape(o[1], sizes_);
    if (IsWhole()) return std::vector<Op>{update};
    return std::vector<Op>{l.b.DynamicUpdateSlice(o[0], update, Starts(l, o.subspan(2)))};
  })[0];
}

Tensor Blocked::Squeezed(const Tensor& x) const {
  return lazy::Call(kKernel, {Operand(x, caller_)},
                    [&](Lowering& l, Operands o) { return l.Reshape(o[0], block_); });
}

void Blocked::Fail(const std::string& why) const {
  Throw(ErrorKind::kArgument,
        absl::StrCat(kernel_, ": ", what_, ", ", hlo::ToStringNoLayout(array_), ", ", why), kKernel.pytorch,
        caller_);
}

void Blocked::FindCoordinates(const Dims& grid) {
  const size_t rank = sizes_.size();
  coordinates_.resize(rank);
  for (Coordinate& coordinate : coordinates_) coordinate.factors.resize(grid.size(), 0);
  if (spec_.at.numbers() == nullptr) return;
  const Dims origin(grid.size(), 0);
  const Dims zero = At(origin);
  for (size_t k = 0; k < rank; ++k) coordinates_[k].at_zero = zero[k];
  for (size_t d = 0; d < grid.size(); ++d) {
    if (grid[d] == 1) continue;
    Dims one = origin;
    one[d] = 1;
    const Dims index = At(one);
    for (size_t k = 0; k < rank; ++k) coordinates_[k].factors[d] = index[k] - zero[k];
  }
  const int64_t steps = StepsOf(grid);
  Dims at = origin;
  std::vector<bool> linear(rank, true);
  for (int64_t step = 0; step < steps; ++step, Advance(grid, at)) {
    const Dims index = At(at);
    for (size_t k = 0; k < rank; ++k) linear[k] = linear[k] && index[k] == coordinates_[k].Linear(at);
  }
  if (std::find(linear.begin(), linear.end(), false) == linear.end()) return;
  at = origin;
  for (int64_t step = 0; step < steps; ++step, Advance(grid, at)) {
    const Dims index = At(at);
    for (size_t k = 0; k < rank; ++k) {
      if (!linear[k]) coordinates_[k].table.push_back(index[k]);
    }
  }
}

Dims Blocked::At(const Dims& at) const {
  Dims index;
  if (!spec_.at.numbers()(at, index)) FailArity(at.size());
  CheckRank(index.size());
  for (size_t k = 0; k < index.size(); ++k) {
    if (index[k] >= 0 && index[k] < counts_[k]) continue;
    Fail(absl::StrCat("has no block ", ListText(index), ", which its index map gives at step ", ListText(at),
                      ": there are ", ListText(counts_), " blocks of ", ListText(sizes_)));
  }
  return index;
}

void Blocked::CheckRank(size_t size) const {
  if (size == counts_.size()) return;
  Fail(absl::StrCat("has an index map that gives ", size, " numbers; the array has ", counts_.size(),
                    " dimensions"));
}

void Blocked::FailArity(size_t dims) const {
  Fail(absl::StrCat("has an index map that does not take ", dims,
                    " numbers, one for each dimension of the grid"));
}

void Blocked::AddIndex(const Running& running, std::vector<Operand>& operands) {
  if (spec_.at.tensors() == nullptr) {
    operands.emplace_back(running.step, caller_);
    for (const Tensor& id : running.ids) operands.emplace_back(id, caller_);
    return;
  }
  if (!computed_) {
    if (!spec_.at.tensors()(running.ids, index_)) FailArity(running.ids.size());
    CheckRank(index_.size());
    computed_ = true;
    for (const auto& number : index_) {
      const Tensor* const tensor = std::get_if<Tensor>(&number);
      if (tensor == nullptr || (tensor->defined() && tensor->rank() == 0 && hlo::IsInteger(tensor->dtype())))
        continue;
      Fail(absl::StrCat("has an index map that gives ",
                        tensor->defined() ? hlo::ToStringNoLayout(tensor->shape()) : "an undefined tensor",
                        "; a block's number is an integer scalar"));
    }
  }
  for (const auto& number : index_) {
    if (const Tensor* const tensor = std::get_if<Tensor>(&number)) operands.emplace_back(*tensor, caller_);
  }
}

std::vector<Op> Blocked::Starts(Lowering& l, Operands o) const {
  std::vector<Op> starts;
  for (size_t k = 0; k < sizes_.size(); ++k) {
    const Op number =
        spec_.at.tensors() == nullptr ? NumberOf(l, coordinates_[k], o) : ComputedNumber(l, k, o);
    starts.push_back(sizes_[k] == 1 ? number : number * l.Number(hlo::kS64, sizes_[k]));
  }
  return starts;
}

Op Blocked::ComputedNumber(Lowering& l, size_t k, Operands& o) const {
  const Op last = l.Number(hlo::kS64, counts_[k] - 1), zero = l.Number(hlo::kS64, 0);
  if (const auto* const number = std::get_if<int64_t>(&index_[k]))
    return l.Number(hlo::kS64, std::clamp<int64_t>(*number, 0, std::max<int64_t>(counts_[k] - 1, 0)));
  const Op number = l.Convert(o.front(), hlo::kS64);
  o.remove_prefix(1);
  return l.b.Clamp(zero, number, last);
}

}  // namespace hlod::lazy
