// Converts operations whose regions combine elements: reductions, windows, scatters, sorts, maps; also batch
// norms.
#include <algorithm>

#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"
#include "common/hlo/builder.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// Converts a reduction whose accumulators are arrays. It combines the slices of the inputs one after another:
// a scan without outputs. The reducer takes accumulators first, a scan's body takes them last.
Values ReduceSlices(Conversion& c, const std::vector<Op>& operands, const Dims& dimensions) {
  const size_t n = operands.size() / 2;
  std::vector<Op> arrays;
  for (size_t i = 0; i < n && c.status().ok(); ++i) {
    const Shape shape = c.b.shape(operands[i]);
    Dims order = dimensions, rest = {1};
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (std::ranges::find(dimensions, d) == dimensions.end()) {
        order.push_back(d);
        rest.push_back(shape.dims[static_cast<size_t>(d)]);
      }
    }
    for (const int64_t d : dimensions) {
      if (d < 0 || d >= shape.rank()) {
        c.Fail(InvalidArgument("Its dimensions have (%d), which operand %d (%s) does not have.", d, i,
                               hlo::ToStringNoLayout(shape)));
        return {};
      }
      rest[0] *= shape.dims[static_cast<size_t>(d)];
    }
    if (!hlo::Compatible(c.b.shape(operands[n + i]),
                         Shape::Array(shape.type, absl::MakeConstSpan(rest).subspan(1)))) {
      c.Fail(Unimplemented("Its initial value %d is %s; expected a scalar or an array of the result's shape.",
                           i, hlo::ToStringNoLayout(c.b.shape(operands[n + i]))));
      return {};
    }
    arrays.push_back(c.b.Reshape(c.b.Transpose(operands[i], order), rest));
  }
  const ComputationId reducer = c.Reducer();
  if (!c.status().ok()) return {};
  hlo::Builder body(c.scope.converter().module(), c.scope.converter().RegionName());
  std::vector<Op> slices, carries;
  for (size_t i = 0; i < 2 * n; ++i)
    (i < n ? slices : carries)
        .push_back(body.Parameter(static_cast<int64_t>(i), c.b.shape(operands[n + i % n])));
  carries.insert(carries.end(), slices.begin(), slices.end());
  if (const absl::Status built = body.Build(body.Call(carries, reducer)); !built.ok())
    return c.Fail(built), Values{};
  arrays.insert(arrays.end(), operands.begin() + static_cast<ptrdiff_t>(n), operands.end());
  return Instruction(c, kScan, arrays, hlo::ScanAttributes{.num_carries = static_cast<int64_t>(n)},
                     {body.id()});
}

// The operands are the inputs, then as many initial values.
Values Reduce(Conversion& c) {
  const std::vector<Op> operands = Widened(c, 0, c.operands.size() / 2);
  const Dims dimensions = c.Integers("dimensions");
  const size_t n = operands.size() / 2;
  if (n > 0 && c.status().ok() && c.b.shape(operands[n]).rank() > 0)
    return ReduceSlices(c, operands, dimensions);
  const ComputationId reducer = c.Reducer();
  return Instruction(c, kReduce, operands, hlo::DimensionsAttributes{dimensions}, {reducer});
}

Values ReduceWindow(Conversion& c) {
  const hlo::Window window = MakeWindow(
      c, c.Integers("window_dimensions"), c.Integers("window_strides", false), c.PairsOf("padding"),
      c.Integers("base_dilations", false), c.Integers("window_dilations", false), {});
  const std::vector<Op> operands = Widened(c, 0, c.operands.size() / 2);
  const ComputationId reducer = c.Reducer();
  return Instruction(c, kReduceWindow, operands, hlo::WindowAttributes{window}, {reducer});
}

// Returns the comparison of `narrow` as a computation on `wide`, a type that holds all its values.
ComputationId OfWider(Conversion& c, ComputationId narrow, hlo::PrimitiveType wide) {
  const hlo::PrimitiveType type = c.shape(0).type;
  if (type == wide || !c.status().ok()) return narrow;
  hlo::Builder body(c.scope.converter().module(), c.scope.converter().RegionName());
  std::vector<Op> arguments;
  for (const int64_t i : {0, 1})
    arguments.push_back(body.Convert(body.Parameter(i, Shape::Scalar(wide)), type));
  if (const absl::Status built = body.Build(body.Call(arguments, narrow)); !built.ok()) c.Fail(built);
  return body.id();
}

Values SelectAndScatter(Conversion& c) {
  const Dims sizes = c.Integers("window_dimensions");
  const hlo::Window window =
      MakeWindow(c, sizes, c.Integers("window_strides", false), c.PairsOf("padding"), {}, {}, {});
  const std::vector<Op> operands = Widened(c, 1, 1);
  const ComputationId compare = c.Reducer(0);
  const ComputationId select = OfWider(c, compare, c.b.shape(operands[0]).type), scatter = c.Reducer(1);
  return Instruction(c, kSelectAndScatter, operands, hlo::WindowAttributes{window}, {select, scatter});
}

Values Scatter(Conversion& c) {
  hlo::ScatterAttributes attributes;
  attributes.update_window_dims = c.Integers("update_window_dims", false);
  attributes.inserted_window_dims = c.Integers("inserted_window_dims", false);
  attributes.scatter_dims_to_operand_dims = c.Integers("scatter_dims_to_operand_dims", false);
  attributes.input_batching_dims = c.Integers("input_batching_dims", false);
  attributes.scatter_indices_batching_dims = c.Integers("scatter_indices_batching_dims", false);
  attributes.index_vector_dim = c.Integer("index_vector_dim", 0);
  attributes.indices_are_sorted = c.Bool("indices_are_sorted");
  attributes.unique_indices = c.Bool("unique_indices");
  const std::vector<Op> operands = Widened(c, 0, c.operands.size() / 2, 1);
  const ComputationId combiner = c.Reducer();
  return Instruction(c, kScatter, operands, attributes, {combiner});
}

Values Sort(Conversion& c) {
  if (c.operands.empty()) return c.Fail(InvalidArgument("It has no operands.")), Values{};
  hlo::SortAttributes attributes;
  attributes.dimension = c.Integer("dimension", -1);
  if (attributes.dimension < 0) attributes.dimension += c.shape(0).rank();
  attributes.is_stable = c.Bool("is_stable");
  const ComputationId comparator = c.Reducer();
  return Instruction(c, kSort, c.operands, attributes, {comparator});
}

Values Map(Conversion& c) {
  const ComputationId mapped = c.Reducer();
  return Instruction(c, kMap, c.operands, hlo::DimensionsAttributes{c.Integers("dimensions")}, {mapped});
}

template <hlo::Opcode opcode>
Values BatchNorm(Conversion& c) {
  hlo::BatchNormAttributes attributes;
  attributes.epsilon = static_cast<float>(c.Float("epsilon"));
  attributes.feature_index = c.Integer("feature_index");
  return Instruction(c, opcode, c.operands, attributes);
}

constexpr Rule kReductionRules[] = {
    {"stablehlo.batch_norm_grad", BatchNorm<kBatchNormGrad>, 5, 3},
    {"stablehlo.batch_norm_inference", BatchNorm<kBatchNormInference>, 5},
    {"stablehlo.batch_norm_training", BatchNorm<kBatchNormTraining>, 3, 3},
    {"stablehlo.map", Map, -1, 1, 1},
    {"stablehlo.reduce", Reduce, -1, -1, 1},
    {"stablehlo.reduce_window", ReduceWindow, -1, -1, 1},
    {"stablehlo.scatter", Scatter, -1, -1, 1},
    {"stablehlo.select_and_scatter", SelectAndScatter, 3, 1, 2},
    {"stablehlo.sort", Sort, -1, -1, 1},
};

}  // namespace

std::vector<Op> Widened(Conversion& c, size_t region, size_t inputs, size_t others) {
  std::vector<Op> operands = c.operands;
  if (c.op.regions[region].blocks.size() != 1) return operands;  // Another check reports this.
  const std::vector<Value>& arguments = c.op.regions[region].blocks[0].arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t argument = i < inputs ? i : i - inputs - others;
    if ((i >= inputs && i < inputs + others) || argument >= arguments.size()) continue;
    const hlo::PrimitiveType from = c.shape(i).type, to = arguments[argument].type.type;
    if (from == to) continue;
    const auto both = [&](bool (*is)(hlo::PrimitiveType)) { return is(from) && is(to); };
    const bool alike =
        both(hlo::IsFloat) || both(hlo::IsSigned) || both(hlo::IsUnsigned) || both(hlo::IsComplex);
    if (!alike || hlo::Info(from).bits > hlo::Info(to).bits) {
      c.Fail(InvalidArgument(
          "Operand %d has elements of type %s, which its region's argument of type %s cannot hold.", i,
          hlo::Name(from), hlo::Name(to)));
      return operands;
    }
    operands[i] = c.b.Convert(operands[i], to);
  }
  return operands;
}

absl::Span<const Rule> ReductionRules() { return kReductionRules; }

}  // namespace hlod::stablehlo
