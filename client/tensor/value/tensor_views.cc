// Tensor's members that return views, checked as PyTorch checks them.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/trace/trace_tables.h"
#include "client/tensor/value/impl.h"
#include "hlod/tensor/tensor.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Refuse;
using lazy::View;

// Makes a view; a refusal names the operation and the line.
template <typename F>
Tensor MakeView(const lazy::Operation& operation, const Tensor& base, const Caller& caller, F&& make) {
  Tensor view;
  const Operand operands[] = {Operand(base, caller)};
  lazy::Explain(operation, operands, caller, [&] {
    if (!base.defined()) Refuse("an argument is an undefined tensor");
    view = make(base.impl()->view());
  });
  return view;
}

void CheckDefined(const lazy::Operation& operation, const Tensor& tensor, const Caller& caller) {
  static_cast<void>(lazy::TensorOf(operation, Operand(tensor, caller)));
}

// Returns true when the start of a slice becomes a parameter of the program.
bool StartVaries(const Tensor& tensor, int64_t start, const Caller& caller) {
  const lazy::Place place = tensor.impl()->place();
  if (place.is_host() || lazy::FunctionTrace::Innermost() != nullptr) return false;
  const lazy::TraceLock lock;
  const lazy::Trace& graph = lazy::ThreadTraces::Get().Open(place, lazy::Trace::Kind::kReal);
  return lazy::TraceTables::Get().StartVaries(caller, graph.generation(), start);
}

// Returns the dims with a -1 replaced by the size that remains.
Dims InferSize(DimList dims, int64_t count) {
  Dims result(dims.begin(), dims.end());
  if (std::count(dims.begin(), dims.end(), -1) > 1) {
    Refuse("shape %s leaves several sizes to be found (-1); one may be", ListText(dims));
  }
  int64_t known = 1, unknown = -1;
  const bool empty = std::find(result.begin(), result.end(), 0) != result.end();
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] == -1 && unknown < 0) unknown = static_cast<int64_t>(i);
    else if (result[i] < 0) Refuse("shape %s has an invalid size (%d)", ListText(dims), result[i]);
    else if (empty) known = 0;
    else if (__builtin_mul_overflow(known, result[i], &known))
      Refuse("shape %s does not hold %d elements", ListText(dims), count);
  }
  if (unknown >= 0) {
    if (known == 0) Refuse("the size -1 of shape %s is not determined: %d elements", ListText(dims), count);
    result[static_cast<size_t>(unknown)] = count / known;
    known *= count / known;
  }
  if (known != count) Refuse("shape %s does not hold %d elements", ListText(dims), count);
  return result;
}

}  // namespace

Tensor Tensor::View(DimList to, Caller caller) const {
  return MakeView(lazy::ops::View, *this, caller, [&](const lazy::View& view) {
    Dims dims = InferSize(to, numel());
    std::optional<Dims> strides = lazy::ReshapedStrides(view, dims);
    if (!strides) {
      Refuse("a view of shape %s does not fit the strides %s of shape %s; use Reshape()", ListText(dims),
             ListText(view.strides), ListText(view.dims));
    }
    return lazy::MakeView(*this, lazy::ReshapeStep{dims}, dims, *std::move(strides), view.offset);
  });
}

Tensor Tensor::Reshape(DimList to, Caller caller) const {
  CheckDefined(lazy::ops::Reshape, *this, caller);
  Dims dims;
  bool is_view = false;
  const Operand operands[] = {Operand(*this, caller)};
  lazy::Explain(lazy::ops::Reshape, operands, caller, [&] {
    dims = InferSize(to, numel());
    is_view = lazy::ReshapedStrides(impl_->view(), dims).has_value();
  });
  if (is_view) return View(dims, caller);
  return lazy::Call(lazy::ops::Reshape, {Operand(*this, caller)},
                    [&](lazy::Lowering& l, lazy::Operands x) { return l.Reshape(x[0], dims); });
}

Tensor Tensor::Permute(DimList permutation, Caller caller) const {
  return MakeView(lazy::ops::Permute, *this, caller, [&](const lazy::View& view) {
    if (static_cast<int64_t>(permutation.size()) != rank()) {
      Refuse("permutation %s has not one entry for each of %d dimensions", ListText(permutation), rank());
    }
    const Dims order = permutation.empty() ? Dims() : lazy::WrapDims(permutation, rank());
    Dims dims, strides;
    for (const int64_t dim : order) {
      dims.push_back(view.dims[dim]);
      strides.push_back(view.strides[dim]);
    }
    return lazy::MakeView(*this, lazy::PermuteStep{order}, dims, strides, view.offset);
  });
}

Tensor Tensor::Transpose(int64_t dim0, int64_t dim1, Caller caller) const {
  CheckDefined(lazy::ops::Transpose, *this, caller);
  Dims order;
  const Operand operands[] = {Operand(*this, caller)};
  lazy::Explain(lazy::ops::Transpose, operands, caller, [&] {
    for (int64_t i = 0; i < rank(); ++i) order.push_back(i);
    if (rank() > 0) std::swap(order[lazy::WrapDim(dim0, rank())], order[lazy::WrapDim(dim1, rank())]);
  });
  return Permute(order, caller);
}

Tensor Tensor::T(Caller caller) const {
  CheckDefined(lazy::ops::Permute, *this, caller);
  Dims order;
  for (int64_t i = rank(); i-- > 0;) order.push_back(i);
  return Permute(order, caller);
}

Tensor Tensor::Slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                     Caller caller) const {
  return MakeView(lazy::ops::Slice, *this, caller, [&](const lazy::View& view) {
    if (rank() == 0) Refuse("a scalar cannot be sliced");
    if (step <= 0) Refuse("a slice's step (%d) must be positive", step);
    const int64_t at = lazy::WrapDim(dim, rank()), size = view.dims[at];
    const auto wrap = [&](int64_t index) {
      return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
    };
    const int64_t first = wrap(start.value_or(0));
    const int64_t limit = std::max(first, wrap(end.value_or(size)));
    Dims dims = view.dims, strides = view.strides;
    dims[at] = limit == first ? 0 : (limit - first - 1) / step + 1;
    int64_t stride = 0;
    if (!__builtin_mul_overflow(strides[at], step, &stride)) strides[at] = stride;
    // A view with at most one element may have any step.
    lazy::SliceStep slice = dims[at] > 1 ? lazy::SliceStep{at, first, limit, step}
                                         : lazy::SliceStep{at, first, first + dims[at], 1};
    slice.varies = slice.step == 1 && dims[at] > 0 && dims[at] < size && StartVaries(*this, first, caller);
    return lazy::MakeView(*this, slice, dims, strides, view.offset + first * view.strides[at]);
  });
}

Tensor Tensor::Narrow(int64_t dim, int64_t start, int64_t length, Caller caller) const {
  const Operand operands[] = {Operand(*this, caller)};
  lazy::Explain(lazy::ops::Narrow, operands, caller, [&] {
    if (!defined()) Refuse("an argument is an undefined tensor");
    if (rank() == 0) Refuse("a scalar cannot be narrowed");
    const int64_t size = dims()[lazy::WrapDim(dim, rank())];
    if (start < 0) start += size;
    if (length < 0 || start < 0 || start > size || length > size - start) {
      Refuse("start (%d) and length (%d) go past the size (%d) of dimension %d", start, length, size, dim);
    }
  });
  return Slice(dim, start, start + length, 1, caller);
}

Tensor Tensor::Select(int64_t dim, int64_t index, Caller caller) const {
  return MakeView(lazy::ops::Select, *this, caller, [&](const lazy::View& view) {
    if (rank() == 0) Refuse("a scalar cannot be indexed");
    const int64_t at = lazy::WrapDim(dim, rank()), size = view.dims[at];
    if (index < -size || index >= size) {
      Refuse("index (%d) is out of range for dimension %d of size %d", index, dim, size);
    }
    if (index < 0) index += size;
    const lazy::TraceLock lock;
    const bool varies = lazy::TraceTables::Get().IndexVaries(caller, index);
    Dims dims = view.dims, strides = view.strides;
    dims[at] = 1;
    const int64_t offset = view.offset + index * strides[at];
    const Tensor row =
        lazy::MakeView(*this, lazy::SliceStep{at, index, index + 1, 1, varies}, dims, strides, offset);
    dims.erase(dims.begin() + at);
    strides.erase(strides.begin() + at);
    return lazy::MakeView(row, lazy::ReshapeStep{dims}, dims, strides, offset);
  });
}

Tensor Tensor::Squeeze(std::optional<int64_t> dim, Caller caller) const {
  return MakeView(lazy::ops::Squeeze, *this, caller, [&](const lazy::View& view) {
    const int64_t only = dim.has_value() ? lazy::WrapDim(*dim, rank()) : -1;
    Dims dims, strides;
    for (int64_t i = 0; i < rank(); ++i) {
      if (view.dims[i] == 1 && (only < 0 || only == i)) continue;
      dims.push_back(view.dims[i]);
      strides.push_back(view.strides[i]);
    }
    return lazy::MakeView(*this, lazy::ReshapeStep{dims}, dims, strides, view.offset);
  });
}

Tensor Tensor::Unsqueeze(int64_t dim, Caller caller) const {
  return MakeView(lazy::ops::Unsqueeze, *this, caller, [&](const lazy::View& view) {
    const int64_t at = lazy::WrapDim(dim, rank() + 1);
    Dims dims = view.dims, strides = view.strides;
    const int64_t stride = at < rank() ? dims[at] * strides[at] : 1;
    dims.insert(dims.begin() + at, 1);
    strides.insert(strides.begin() + at, stride);
    return lazy::MakeView(*this, lazy::ReshapeStep{dims}, dims, strides, view.offset);
  });
}

Tensor Tensor::Flatten(int64_t start, int64_t end, Caller caller) const {
  Dims to;
  bool is_flat = false;
  const Operand operands[] = {Operand(*this, caller)};
  lazy::Explain(lazy::ops::Flatten, operands, caller, [&] {
    if (!defined()) Refuse("an argument is an undefined tensor");
    const int64_t first = lazy::WrapDim(start, rank()), last = lazy::WrapDim(end, rank());
    is_flat = first == last && rank() > 0;
    if (first > last) Refuse("start dimension %d comes after end dimension %d", start, end);
    int64_t merged = 1;
    for (int64_t i = 0; i < rank(); ++i) {
      if (i < first || i > last) to.push_back(dims()[i]);
      else merged *= dims()[i];
      if (i == last) to.push_back(merged);
    }
    if (rank() == 0) to.push_back(1);
  });
  return is_flat ? *this : Reshape(to, caller);
}

Tensor Tensor::Expand(DimList to, Caller caller) const {
  return MakeView(lazy::ops::Expand, *this, caller, [&](const lazy::View& view) {
    if (to.size() < view.dims.size()) {
      Refuse("shape %s has fewer dimensions than the tensor's %s", ListText(to), ListText(view.dims));
    }
    Dims dims(to.begin(), to.end()), strides(to.size(), 0);
    const size_t added = to.size() - view.dims.size();
    for (size_t i = 0; i < to.size(); ++i) {
      const bool is_new = i < added;
      if (dims[i] == -1 && !is_new) dims[i] = view.dims[i - added];
      if (dims[i] < 0) Refuse("shape %s has an invalid size (%d)", ListText(to), dims[i]);
      if (is_new) continue;
      if (view.dims[i - added] == dims[i]) strides[i] = view.strides[i - added];
      else if (view.dims[i - added] != 1) {
        Refuse("size %d of dimension %d cannot be expanded to %d", view.dims[i - added], i, dims[i]);
      }
    }
    return lazy::MakeView(*this, lazy::ExpandStep{dims}, dims, strides, view.offset);
  });
}

Tensor Tensor::AsStrided(DimList to, DimList to_strides, std::optional<int64_t> offset, Caller caller) const {
  return MakeView(lazy::ops::AsStrided, *this, caller, [&](const lazy::View& view) {
    if (to.size() != to_strides.size()) {
      Refuse("shape %s and strides %s differ in length", ListText(to), ListText(to_strides));
    }
    const int64_t first = offset.value_or(view.offset);
    int64_t last = first;  // The largest position that the view addresses.
    bool reaches_too_far = false;
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] < 0 || to_strides[i] < 0)
        Refuse("shape %s or strides %s are negative", ListText(to), ListText(to_strides));
      int64_t along = 0;
      reaches_too_far |= to[i] > 1 && (__builtin_mul_overflow(to[i] - 1, to_strides[i], &along) ||
                                       __builtin_add_overflow(last, along, &last));
    }
    const absl::Status valid = hlo::ValidateShape(Shape::Array(dtype(), to));
    if (!valid.ok()) throw lazy::Refusal{valid};
    const int64_t size = lazy::Count(impl_->storage->dims);
    if (first < 0 || (lazy::Count(to) > 0 && (reaches_too_far || last >= size))) {
      Refuse("shape %s with strides %s and offset %d goes past the %d elements of the storage", ListText(to),
             ListText(to_strides), first, size);
    }
    const Dims dims(to.begin(), to.end()), strides(to_strides.begin(), to_strides.end());
    return lazy::MakeView(*this, lazy::StridedStep{dims, strides, first}, dims, strides, first);
  });
}

Tensor Tensor::Diagonal(int64_t offset, int64_t dim0, int64_t dim1, Caller caller) const {
  CheckDefined(lazy::ops::Diagonal, *this, caller);
  Dims dims, strides;
  int64_t first = impl_->view().offset;
  const Operand operands[] = {Operand(*this, caller)};
  lazy::Explain(lazy::ops::Diagonal, operands, caller, [&] {
    const lazy::View view = impl_->view();
    const int64_t a = lazy::WrapDim(dim0, rank()), b = lazy::WrapDim(dim1, rank());
    if (a == b || rank() < 2)
      Refuse("a diagonal needs two different dimensions; these are %d and %d", dim0, dim1);
    const int64_t length = offset >= 0 ? std::min(view.dims[a], view.dims[b] - offset)
                                       : std::min(view.dims[a] + offset, view.dims[b]);
    if (length > 0) first += offset >= 0 ? offset * view.strides[b] : -offset * view.strides[a];
    for (int64_t i = 0; i < rank(); ++i) {
      if (i == a || i == b) continue;
      dims.push_back(view.dims[i]);
      strides.push_back(view.strides[i]);
    }
    dims.push_back(std::max<int64_t>(length, 0));
    strides.push_back(view.strides[a] + view.strides[b]);
  });
  return AsStrided(dims, strides, first, caller);
}

Tensor Tensor::Unfold(int64_t dim, int64_t size, int64_t step, Caller caller) const {
  CheckDefined(lazy::ops::Unfold, *this, caller);
  Dims dims = impl_->dims(), strides = impl_->view().strides;
  const Operand operands[] = {Operand(*this, caller)};
  lazy::Explain(lazy::ops::Unfold, operands, caller, [&] {
    if (rank() == 0) {
      dims.push_back(1);
      strides.push_back(1);
    }
    const int64_t at = lazy::WrapDim(dim, rank());
    if (size < 0 || size > dims[at] || step <= 0) {
      Refuse("windows of size %d at steps of %d do not fit dimension %d of size %d", size, step, dim,
             dims[at]);
    }
    const int64_t stride = strides[at];
    int64_t between = 0;
    if (rank() == 0) {
      dims = {size};
      strides = {1};
      return;
    }
    dims[at] = (dims[at] - size) / step + 1;
    if (!__builtin_mul_overflow(stride, step, &between))
      strides[at] = between;  // A single window's may be any.
    dims.push_back(size);
    strides.push_back(stride);
  });
  return AsStrided(dims, strides, impl_->view().offset, caller);
}

Tensor Tensor::Contiguous(Caller caller) const {
  CheckDefined(lazy::ops::Clone, *this, caller);
  return is_view() && !is_contiguous() ? Clone(caller) : *this;
}

Tensor Tensor::Clone(Caller caller) const {
  return lazy::Call(lazy::ops::Clone, {Operand(*this, caller)},
                    [](lazy::Lowering&, lazy::Operands x) { return x[0]; });
}

}  // namespace hlod
