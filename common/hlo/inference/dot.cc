// Shape rules of contractions: dot, and opcodes that extend it.
#include <algorithm>

#include "common/hlo/dynamic/ragged_dot.h"
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

absl::Status ExpectPaired(const InferenceInput& in, const Dims& lhs, const Dims& rhs, std::string_view what) {
  if (lhs.size() != rhs.size()) {
    return InvalidArgument("The %s dimensions (%d, %d) of %s are not paired.", what, lhs.size(), rhs.size(),
                           OpName(in));
  }
  for (size_t i = 0; i < lhs.size(); ++i) {
    if (!SizesAgree(Operand(in, 0).dims[lhs[i]], Operand(in, 1).dims[rhs[i]])) {
      return InvalidArgument("The %s dimensions %d of (%s) and %d of (%s) of %s differ in size.", what,
                             lhs[i], Text(Operand(in, 0)), rhs[i], Text(Operand(in, 1)), OpName(in));
    }
  }
  return absl::OkStatus();
}

Dims Joined(const Dims& a, const Dims& b) {
  Dims both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

// Appends the dimensions of `from` that are in neither list.
void AppendFree(Shape& shape, const Shape& from, const Dims& contracting, const Dims& batch) {
  DimensionSet used;
  for (const Dims* dims : {&contracting, &batch}) {
    for (const int64_t d : *dims) used.Add(d, from.rank());
  }
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (!used.Has(d)) AppendDimension(shape, from, d);
  }
}

// Returns the dimensions of a contraction of operands 0 and 1: batch, free of lhs, free of rhs without
// `rhs_group`.
absl::StatusOr<Shape> Contract(const InferenceInput& in, const DotAttributes& dot, const Dims& rhs_group) {
  RETURN_IF_ERROR(ExpectArrays(in));
  const Shape &lhs = Operand(in, 0), &rhs = Operand(in, 1);
  const Dims rhs_used = Joined(Joined(dot.rhs_batch, dot.rhs_contracting), rhs_group);
  RETURN_IF_ERROR(
      ExpectDistinct(in, Joined(dot.lhs_batch, dot.lhs_contracting), lhs.rank(), "lhs dimensions"));
  RETURN_IF_ERROR(ExpectDistinct(in, rhs_used, rhs.rank(), "rhs dimensions"));
  RETURN_IF_ERROR(ExpectPaired(in, dot.lhs_batch, dot.rhs_batch, "batch"));
  RETURN_IF_ERROR(ExpectPaired(in, dot.lhs_contracting, dot.rhs_contracting, "contracting"));
  Shape shape;
  ASSIGN_OR_RETURN(shape.type, ContractionType(in));
  for (size_t i = 0; i < dot.lhs_batch.size(); ++i) {
    const bool known = lhs.dims[dot.lhs_batch[i]] != kUnboundedSize;
    AppendDimension(shape, known ? lhs : rhs, known ? dot.lhs_batch[i] : dot.rhs_batch[i]);
  }
  AppendFree(shape, lhs, dot.lhs_contracting, dot.lhs_batch);
  AppendFree(shape, rhs, Joined(dot.rhs_contracting, rhs_group), dot.rhs_batch);
  return shape;
}

// Returns an error unless operand `scale` is a scale of operand `operand`: each of its sizes divides the
// operand's.
absl::Status ExpectScale(const InferenceInput& in, size_t scale, size_t operand) {
  const Shape &whole = Operand(in, operand), &part = Operand(in, scale);
  bool fits = IsFloat(part.type) && part.rank() == whole.rank();
  for (int64_t d = 0; fits && d < part.rank(); ++d) {
    const int64_t blocks = part.dims[d], size = whole.dims[d];
    fits = SizesAgree(blocks, size) || (blocks > 0 && size % blocks == 0);
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument(
      "Operand %d shape (%s) of scaled-dot does not scale blocks of operand %d shape (%s).", scale,
      Text(part), operand, Text(whole));
}

}  // namespace

absl::StatusOr<Shape> InferDot(const InferenceInput& in) {
  return Contract(in, AttributesOf<DotAttributes>(in), {});
}

absl::StatusOr<Shape> InferScaledDot(const InferenceInput& in) {
  ASSIGN_OR_RETURN(Shape shape, Contract(in, AttributesOf<DotAttributes>(in), {}));
  RETURN_IF_ERROR(ExpectScale(in, 2, 0));
  RETURN_IF_ERROR(ExpectScale(in, 3, 1));
  return shape;
}

absl::StatusOr<Shape> InferRaggedDot(const InferenceInput& in) {
  const auto& ragged = AttributesOf<RaggedDotAttributes>(in);
  ASSIGN_OR_RETURN(Shape product, Contract(in, ragged.dot, ragged.rhs_group));
  const Shape &lhs = Operand(in, 0), &rhs = Operand(in, 1), &sizes = Operand(in, 2);
  if (ragged.lhs_ragged.size() != 1) {
    return InvalidArgument("The number of ragged dimensions (%d) of ragged-dot differs from (1).",
                           ragged.lhs_ragged.size());
  }
  RETURN_IF_ERROR(ExpectDimension(in, ragged.lhs_ragged[0], lhs.rank(), "ragged dimension"));
  const RaggedMode mode = RaggedModeOf(ragged);
  const size_t groups = mode == RaggedMode::kFree ? 1 : 0;
  if (ragged.rhs_group.size() != groups) {
    return InvalidArgument("The number of group dimensions (%d) of ragged-dot differs from (%d).",
                           ragged.rhs_group.size(), groups);
  }
  // The sizes are one vector for all groups, or one vector per index of the dimensions outside the ragged
  // one.
  const Dims prefix = RaggedPrefix(ragged, lhs.rank());
  bool fits =
      IsInteger(sizes.type) && (sizes.rank() == 1 || sizes.rank() == static_cast<int64_t>(prefix.size()) + 1);
  for (int64_t d = 0; fits && d + 1 < sizes.rank(); ++d)
    fits = SizesAgree(sizes.dims[d], lhs.dims[prefix[d]]);
  if (!fits) {
    return InvalidArgument(
        "Operand 2 shape (%s) of ragged-dot does not hold the sizes of groups of operand 0 shape (%s).",
        Text(sizes), Text(lhs));
  }
  if (mode == RaggedMode::kFree && !SizesAgree(rhs.dims[ragged.rhs_group[0]], sizes.dims.back())) {
    return InvalidArgument(
        "Operand 2 shape (%s) of ragged-dot has another number of groups than operand 1 shape (%s).",
        Text(sizes), Text(rhs));
  }
  if (mode != RaggedMode::kContracting) return product;
  Shape shape;
  shape.type = product.type;
  AppendDimension(shape, sizes, sizes.rank() - 1);
  for (int64_t d = 0; d < product.rank(); ++d) AppendDimension(shape, product, d);
  return shape;
}

}  // namespace hlod::hlo
