// Instructions that combine elements: elements beyond the sizes are set to neutral ones.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/passes/dynamic/dynamic_rules.h"

namespace hlod::passes {

using namespace hlo;  // The passes are functions over the IR.

ComputationId MarkedComparator(Module& to, Instruction sort, ComputationId comparator) {
  Builder b(to, "marked_last." + std::to_string(to.computation_count()));
  const Op left = b.Parameter(0, Shape::Scalar(kPred)), right = b.Parameter(1, Shape::Scalar(kPred));
  std::vector<Op> rest;
  for (uint32_t i = 0; i < sort.operand_count(); ++i) {
    for (int side = 0; side < 2; ++side) {
      rest.push_back(
          b.Parameter(static_cast<int64_t>(2 + rest.size()), Shape::Scalar(sort.operand(i).shape().type)));
    }
  }
  const Op before = b.Call(rest, comparator);
  const Op alike = b.Compare(left, right, ComparisonDirection::kEq);
  const Op first = b.Binary(kAnd, b.Unary(kNot, left), right);
  static_cast<void>(b.Build(b.Binary(kOr, first, b.Binary(kAnd, alike, before))));
  return b.id();
}

bool SortsDynamic(Instruction instruction) {
  if (instruction.opcode() != kSort) return false;
  const int64_t d = instruction.attributes<SortAttributes>().dimension;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (instruction.operand(i).shape().IsDynamic(d)) return true;
  }
  return false;
}

namespace dynamic_rules {

namespace {

// Returns the opcode of a computation that only joins its two parameters; nullopt for other computations.
std::optional<Opcode> JoinOf(const Computation& computation) {
  const Instruction root = computation.root();
  if (root.operand_count() != 2 || computation.parameters().size() != 2) return std::nullopt;
  if (root.operand(0).opcode() != kParameter || root.operand(1).opcode() != kParameter) return std::nullopt;
  if (root.operands()[0] == root.operands()[1]) return std::nullopt;
  return root.opcode();
}

// Masks inputs along `dimensions` with the neutral element of the reducer if that is a single opcode,
// otherwise with the initial value, which HLO assumes to be neutral.
std::vector<Op> MaskedInputs(DynamicRewrite& w, Instruction instruction, absl::Span<const DynamicArray> x,
                             const DynamicSizes& sizes, absl::Span<const int64_t> dimensions) {
  const size_t count = x.size() / 2;
  const std::optional<Opcode> join = JoinOf(w.Called(instruction));
  std::vector<Op> operands;
  for (size_t i = 0; i < count; ++i) {
    std::optional<Op> neutral;
    if (count == 1 && join) neutral = w.arrays().Neutral(*join, w.arrays().Type(x[0]));
    operands.push_back(
        w.arrays().Masked({x[i].data, sizes}, dimensions, neutral.value_or(x[count + i].data)));
  }
  for (size_t i = count; i < x.size(); ++i) operands.push_back(x[i].data);
  return operands;
}

// Returns the operands of a contraction, with zeros beyond the sizes of the dimensions that are summed over.
std::vector<Op> MaskedPair(DynamicRewrite& w, Instruction instruction, absl::Span<const DynamicArray> x,
                           const Dims& lhs, const Dims& rhs) {
  DynamicSizes sizes[2] = {DynamicSizes(x[0].sizes.size()), DynamicSizes(x[1].sizes.size())};
  for (size_t i = 0; i < lhs.size(); ++i) {
    const std::optional<Op> size =
        w.arrays().Common(x[0].sizes[lhs[i]], x[1].sizes[rhs[i]], instruction.name(), lhs[i]);
    sizes[0][lhs[i]] = sizes[1][rhs[i]] = size;
  }
  return {w.arrays().Masked({x[0].data, sizes[0]}, w.arrays().Zero(w.arrays().Type(x[0]))),
          w.arrays().Masked({x[1].data, sizes[1]}, w.arrays().Zero(w.arrays().Type(x[1])))};
}

std::optional<Op> Windows(DynamicRewrite& w, const std::optional<Op>& size, const WindowDimension& window) {
  if (!size) return std::nullopt;
  const int64_t reach = (window.size - 1) * window.window_dilation + 1;
  const Op holes = w.b().Binary(kMaximum, *size - w.arrays().Number(1), w.arrays().Number(0));
  const Op dilated = *size + holes * w.arrays().Number(window.base_dilation - 1);
  const Op room =
      dilated + w.arrays().Number(window.padding_low + window.padding_high - reach + window.stride);
  return w.b().Binary(kDivide, w.b().Binary(kMaximum, room, w.arrays().Number(0)),
                      w.arrays().Number(window.stride));
}

bool IsFar(const Window& window) {
  constexpr int64_t kFar = 1 << 24;
  return std::ranges::any_of(window, [](const WindowDimension& d) {
    return d.size > kFar || d.stride > kFar || d.window_dilation > 64 || d.base_dilation > 64 ||
           std::abs(d.padding_low) > kFar || std::abs(d.padding_high) > kFar;
  });
}

}  // namespace

absl::Status Reduce(DynamicRewrite& w, Instruction instruction, Operands x) {
  const size_t count = x.size() / 2;
  const DynamicSizes sizes = w.CommonSizes(instruction, x, count);
  const Dims& reduced = instruction.dimensions();
  DynamicSizes kept;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (std::ranges::find(reduced, static_cast<int64_t>(d)) == reduced.end()) kept.push_back(sizes[d]);
  }
  const Op result = w.Same(instruction, MaskedInputs(w, instruction, x, sizes, reduced));
  return w.DoneAll(instruction, w.Elements(instruction, result, count), kept);
}

absl::Status ReduceWindow(DynamicRewrite& w, Instruction instruction, Operands x) {
  const size_t count = x.size() / 2;
  const Window& window = instruction.attributes<WindowAttributes>().window;
  if (IsFar(window)) return w.Refuse(instruction, "with a window of this size");
  const DynamicSizes sizes = w.CommonSizes(instruction, x, count);
  DynamicSizes counts;
  Dims all;
  for (size_t d = 0; d < sizes.size(); ++d) {
    counts.push_back(Windows(w, sizes[d], window[d]));
    all.push_back(static_cast<int64_t>(d));
  }
  const Op result = w.Same(instruction, MaskedInputs(w, instruction, x, sizes, all));
  return w.DoneAll(instruction, w.Elements(instruction, result, count), counts);
}

absl::Status Sort(DynamicRewrite& w, Instruction instruction, Operands x) {
  const auto& sort = instruction.attributes<SortAttributes>();
  const DynamicSizes sizes = w.CommonSizes(instruction, x, x.size());
  std::vector<Op> operands;
  const ComputationId comparator = w.comparator(instruction);
  const bool marked = SortsDynamic(instruction);
  if (marked)
    operands.push_back(
        w.b().Unary(kNot, w.arrays().Below(w.arrays().Bounds(x[0]), sort.dimension, *sizes[sort.dimension])));
  for (const DynamicArray& array : x) operands.push_back(array.data);
  if (!marked)
    return w.DoneAll(instruction, w.Elements(instruction, w.Same(instruction, operands), x.size()), sizes);
  const Op result = w.b().Add(kSort, operands, sort, {comparator});
  std::vector<Op> elements;
  for (size_t i = 0; i < x.size(); ++i)
    elements.push_back(w.b().GetTupleElement(result, static_cast<int64_t>(1 + i)));
  return w.DoneAll(instruction, elements, sizes);
}

absl::Status Dot(DynamicRewrite& w, Instruction instruction, Operands x) {
  const auto& dot = instruction.attributes<DotAttributes>();
  DynamicSizes sizes;
  for (size_t i = 0; i < dot.lhs_batch.size(); ++i) {
    sizes.push_back(w.arrays().Common(x[0].sizes[dot.lhs_batch[i]], x[1].sizes[dot.rhs_batch[i]],
                                      instruction.name(), dot.lhs_batch[i]));
  }
  const auto free = [&](const DynamicArray& array, const Dims& batch, const Dims& contracting) {
    for (int64_t d = 0; d < static_cast<int64_t>(array.sizes.size()); ++d) {
      if (std::ranges::find(batch, d) == batch.end() &&
          std::ranges::find(contracting, d) == contracting.end())
        sizes.push_back(array.sizes[d]);
    }
  };
  free(x[0], dot.lhs_batch, dot.lhs_contracting);
  free(x[1], dot.rhs_batch, dot.rhs_contracting);
  const std::vector<Op> operands = MaskedPair(w, instruction, x, dot.lhs_contracting, dot.rhs_contracting);
  return w.Done(instruction, w.Same(instruction, operands), std::move(sizes));
}

absl::Status Convolution(DynamicRewrite& w, Instruction instruction, Operands x) {
  const auto& c = instruction.attributes<ConvolutionAttributes>();
  if (c.feature_group_count != 1 || c.batch_group_count != 1) return w.Refuse(instruction, "in groups");
  if (IsFar(c.window)) return w.Refuse(instruction, "with a window of this size");
  for (const int64_t d : c.kernel_spatial) {
    if (x[1].sizes[d]) return w.Refuse(instruction, absl::StrFormat("of a kernel with dimension %d", d));
  }
  DynamicSizes sizes(instruction.shape().dims.size());
  sizes[c.output_batch] = x[0].sizes[c.input_batch];
  sizes[c.output_feature] = x[1].sizes[c.kernel_output_feature];
  DynamicArray lhs = x[0];
  for (size_t i = 0; i < c.window.size(); ++i)
    sizes[c.output_spatial[i]] = Windows(w, x[0].sizes[c.input_spatial[i]], c.window[i]);
  lhs.data = w.arrays().Masked(lhs, c.input_spatial, w.arrays().Zero(w.arrays().Type(lhs)));
  const std::vector<Op> operands = MaskedPair(w, instruction, std::vector<DynamicArray>{lhs, x[1]},
                                              {c.input_feature}, {c.kernel_input_feature});
  return w.Done(instruction, w.Same(instruction, operands), std::move(sizes));
}

}  // namespace dynamic_rules
}  // namespace hlod::passes
