// Translates a dot's dimension numbers to batched matrices with one stride per group of dimensions, and
// copies only operands that strides cannot express.
#include <algorithm>
#include <vector>

#include "server/engine/contraction/dot.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

struct Axis {
  int64_t size, lhs, rhs;  // The strides; 0 for an operand that lacks the axis.
};

// Returns the axes joined to one, if one stride per operand can describe them; otherwise nullopt. Axes of
// size 1 are ignored.
std::optional<Axis> Join(const std::vector<Axis>& axes) {
  Axis joined{1, 0, 0};
  bool first = true;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (axis->size == 1) continue;
    if (first) {
      joined = *axis;
      first = false;
    } else if (axis->lhs == joined.lhs * joined.size && axis->rhs == joined.rhs * joined.size) {
      joined.size *= axis->size;
    } else {
      return std::nullopt;
    }
  }
  return joined;
}

std::vector<Axis> FreeAxes(const hlo::Shape& shape, absl::Span<const int64_t> taken_a,
                           absl::Span<const int64_t> taken_b, bool is_lhs) {
  const hlo::Dims strides = hlo::RowMajorStrides(shape.dims);
  std::vector<Axis> axes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (Contains(taken_a, d) || Contains(taken_b, d)) continue;
    axes.push_back({shape.dims[d], is_lhs ? strides[d] : 0, is_lhs ? 0 : strides[d]});
  }
  return axes;
}

int64_t SizeOf(const std::vector<Axis>& axes) {
  int64_t size = 1;
  for (const Axis& axis : axes) size *= axis.size;
  return size;
}

// Returns a copy of one operand into dense [batch, first, second].
CopyNd PackSide(const std::vector<Axis>& batch, const std::vector<Axis>& first,
                const std::vector<Axis>& second, bool is_lhs, int width) {
  std::vector<CopyDim> dims;
  int64_t stride = width;
  for (const std::vector<Axis>* group : {&second, &first, &batch}) {
    for (auto axis = group->rbegin(); axis != group->rend(); ++axis) {
      dims.push_back({axis->size, (is_lhs ? axis->lhs : axis->rhs) * width, stride});
      stride *= axis->size;
    }
  }
  std::reverse(dims.begin(), dims.end());
  return CopyNd(dims, width);
}

// The groups of a dot's dimensions.
struct DotAxes {
  std::vector<Axis> batch, contracted, lhs_free, rhs_free;
};

DotAxes AxesOf(hlo::Instruction dot) {
  const auto& attributes = dot.attributes<hlo::DotAttributes>();
  const hlo::Shape& lhs = dot.operand(0).shape();
  const hlo::Shape& rhs = dot.operand(1).shape();
  const hlo::Dims lhs_strides = hlo::RowMajorStrides(lhs.dims), rhs_strides = hlo::RowMajorStrides(rhs.dims);
  DotAxes axes;
  for (size_t i = 0; i < attributes.lhs_batch.size(); ++i) {
    const int64_t l = attributes.lhs_batch[i], r = attributes.rhs_batch[i];
    axes.batch.push_back({lhs.dims[l], lhs_strides[l], rhs_strides[r]});
  }
  for (size_t i = 0; i < attributes.lhs_contracting.size(); ++i) {
    const int64_t l = attributes.lhs_contracting[i], r = attributes.rhs_contracting[i];
    axes.contracted.push_back({lhs.dims[l], lhs_strides[l], rhs_strides[r]});
  }
  // The order of summation is free; the order of the left operand can be joined most often.
  std::stable_sort(axes.contracted.begin(), axes.contracted.end(),
                   [](const Axis& a, const Axis& b) { return a.lhs > b.lhs; });
  axes.lhs_free = FreeAxes(lhs, attributes.lhs_batch, attributes.lhs_contracting, true);
  axes.rhs_free = FreeAxes(rhs, attributes.rhs_batch, attributes.rhs_contracting, false);
  return axes;
}

// The strides of an operand's free and contracted dimensions.
struct Matrix {
  int64_t free, contracted;
};

// Returns an operand as a matrix of which rows or columns are contiguous; nullopt when two strides cannot
// express that.
std::optional<Matrix> MatrixOf(const std::vector<Axis>& free, const std::vector<Axis>& contracted,
                               bool is_lhs) {
  const auto own = [is_lhs](std::vector<Axis> axes) {
    for (Axis& axis : axes) (is_lhs ? axis.rhs : axis.lhs) = 0;
    return Join(axes);
  };
  const std::optional<Axis> rows = own(free), columns = own(contracted);
  if (!rows.has_value() || !columns.has_value()) return std::nullopt;
  const Matrix matrix{is_lhs ? rows->lhs : rows->rhs, is_lhs ? columns->lhs : columns->rhs};
  const bool has_run = matrix.free == 1 || rows->size == 1 || matrix.contracted == 1 || columns->size == 1;
  return has_run ? std::optional(matrix) : std::nullopt;
}

bool HasManyBatches(const std::vector<Axis>& batch) {
  constexpr int kBatchAxes = 3;
  return std::count_if(batch.begin(), batch.end(), [](const Axis& a) { return a.size != 1; }) > kBatchAxes;
}

// Sets the view's batches. Batches keep their order; neighbours are joined if both operands allow it.
void AddBatches(const std::vector<Axis>& batch, bool copy_lhs, bool copy_rhs, DotView& view) {
  int64_t inner = 1;
  for (auto axis = batch.rbegin(); axis != batch.rend(); ++axis) {
    const int64_t size = axis->size;
    if (size == 1) continue;
    DotView::Batch b{size, copy_lhs ? inner * view.m * view.k : axis->lhs,
                     copy_rhs ? inner * view.k * view.n : axis->rhs};
    inner *= size;
    if (!view.batch.empty()) {
      DotView::Batch& last = view.batch.back();
      if (b.lhs_stride == last.lhs_stride * last.size && b.rhs_stride == last.rhs_stride * last.size) {
        last.size *= size;
        continue;
      }
    }
    view.batch.push_back(b);
  }
  std::reverse(view.batch.begin(), view.batch.end());
}

}  // namespace

DotForm MakeDotForm(hlo::Instruction dot, int lhs_width, int rhs_width, bool force_copy) {
  const DotAxes axes = AxesOf(dot);
  const bool copies = force_copy || HasManyBatches(axes.batch);
  const std::optional<Matrix> lhs = MatrixOf(axes.lhs_free, axes.contracted, true),
                              rhs = MatrixOf(axes.rhs_free, axes.contracted, false);
  DotForm form;
  DotView& view = form.view;
  view.m = SizeOf(axes.lhs_free);
  view.n = SizeOf(axes.rhs_free);
  view.k = SizeOf(axes.contracted);
  // An axis of size 1 may have any stride; libraries recognise the stride of a dense matrix.
  const auto pick = [](int64_t size, int64_t stride, int64_t dense) { return size == 1 ? dense : stride; };
  const bool copy_lhs = copies || !lhs.has_value(), copy_rhs = copies || !rhs.has_value();
  if (copy_lhs) {
    form.lhs_copy = PackSide(axes.batch, axes.lhs_free, axes.contracted, true, lhs_width);
    view.lhs_m = view.k;
    view.lhs_k = 1;
  } else {
    view.lhs_k = pick(view.k, lhs->contracted, lhs->free == 1 || view.m == 1 ? view.m : 1);
    view.lhs_m = pick(view.m, lhs->free, view.lhs_k == 1 ? view.k : 1);
  }
  if (copy_rhs) {
    form.rhs_copy = PackSide(axes.batch, axes.contracted, axes.rhs_free, false, rhs_width);
    view.rhs_k = view.n;
    view.rhs_n = 1;
  } else {
    view.rhs_n = pick(view.n, rhs->free, rhs->contracted == 1 || view.k == 1 ? view.k : 1);
    view.rhs_k = pick(view.k, rhs->contracted, view.rhs_n == 1 ? view.n : 1);
  }
  AddBatches(axes.batch, copy_lhs, copy_rhs, view);
  return form;
}

}  // namespace hlod::engine
