// Runs instructions on actual sizes: set-dimension-size truncates. The attributes of any other instruction
// are adapted to the actual sizes of its operands, and then the rule of its opcode runs as for static shapes.
#include "common/evaluator/dynamic_shapes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/evaluator/custom_calls.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/dynamic/dynamic_reshape.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/inference/shape_inference.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;

namespace {

// Returns the first `dims` elements of an array along each dimension.
absl::StatusOr<Literal> Cut(Evaluation& evaluation, const Literal& array, const Dims& dims) {
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(Shape::Array(array.shape().type, dims)));
  RETURN_IF_ERROR(CopyElements(evaluation, dims, hlo::ByteWidth(array.shape().type), array.bytes().data(),
                               {0, hlo::RowMajorStrides(array.shape().dims)}, result.bytes().data(),
                               {0, hlo::RowMajorStrides(dims)}));
  return result;
}

absl::StatusOr<Literal> SetDimensionSize(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const int64_t dimension = instruction.dimensions()[0], size = IndexAt(operands[1], 0);
  Dims dims = operands[0].shape().dims;
  RETURN_IF_ERROR(
      CheckDimensionSize(instruction.name(), size, instruction.shape().dims[dimension], dims[dimension]));
  dims[dimension] = size;
  return Cut(evaluation, operands[0], dims);
}

// Checks that the operands from `first` on have equal actual sizes. A static dimension is truncated to the
// size of the dynamic ones, as in XLA. Dimension `apart` may differ.
absl::Status Agree(Evaluation& evaluation, Instruction instruction, size_t first, size_t count, int64_t apart,
                   std::vector<Value>& operands) {
  Dims common;
  std::vector<bool> fixed;
  for (size_t i = first; i < first + count; ++i) {
    const Shape &stated = instruction.operand(static_cast<uint32_t>(i)).shape(),
                &actual = operands[i].array->shape();
    if (actual.dims.empty()) continue;  // A scalar applies to every element.
    if (common.empty()) {
      common = stated.dims;
      fixed.assign(common.size(), false);
    }
    for (int64_t d = 0; d < actual.rank(); ++d) {
      if (d == apart || !stated.IsDynamic(d)) continue;
      if (fixed[d]) RETURN_IF_ERROR(CheckSameSize(instruction.name(), common[d], actual.dims[d], d));
      fixed[d] = true;
      common[d] = actual.dims[d];
    }
  }
  for (size_t i = first; i < first + count; ++i) {
    const Dims& have = operands[i].array->shape().dims;
    if (have.empty()) continue;
    Dims wanted = common;
    if (apart >= 0) wanted[apart] = have[apart];
    if (have == wanted) continue;
    ASSIGN_OR_RETURN(Literal cut, Cut(evaluation, *operands[i].array, wanted));
    operands[i] = Value::Own(std::move(cut));
  }
  return absl::OkStatus();
}

// Checks paired dimensions of two operands: a static one is truncated to the size of the dynamic one.
absl::Status AgreePairs(Evaluation& evaluation, Instruction instruction, const Dims& lhs, const Dims& rhs,
                        std::vector<Value>& operands) {
  Dims wanted[2] = {operands[0].array->shape().dims, operands[1].array->shape().dims};
  for (size_t i = 0; i < lhs.size(); ++i) {
    const bool first = instruction.operand(0).shape().IsDynamic(lhs[i]),
               second = instruction.operand(1).shape().IsDynamic(rhs[i]);
    if (first && !second) wanted[1][rhs[i]] = wanted[0][lhs[i]];
    if (second && !first) wanted[0][lhs[i]] = wanted[1][rhs[i]];
  }
  for (size_t k = 0; k < 2; ++k) {
    if (wanted[k] == operands[k].array->shape().dims) continue;
    ASSIGN_OR_RETURN(Literal cut, Cut(evaluation, *operands[k].array, wanted[k]));
    operands[k] = Value::Own(std::move(cut));
  }
  return absl::OkStatus();
}

absl::Status AgreeOperands(Evaluation& evaluation, Instruction instruction, std::vector<Value>& operands) {
  const size_t count = operands.size();
  switch (instruction.opcode()) {
    case hlo::kMap:
    case hlo::kSort: return Agree(evaluation, instruction, 0, count, -1, operands);
    case hlo::kReduce:
    case hlo::kReduceWindow: return Agree(evaluation, instruction, 0, count / 2, -1, operands);
    case hlo::kConcatenate:
      return Agree(evaluation, instruction, 0, count, instruction.dimensions()[0], operands);
    case hlo::kDot: {
      const auto& dot = instruction.attributes<hlo::DotAttributes>();
      Dims lhs = dot.lhs_contracting, rhs = dot.rhs_contracting;
      lhs.insert(lhs.end(), dot.lhs_batch.begin(), dot.lhs_batch.end());
      rhs.insert(rhs.end(), dot.rhs_batch.begin(), dot.rhs_batch.end());
      return AgreePairs(evaluation, instruction, lhs, rhs, operands);
    }
    default:
      if (HasTrait(instruction.opcode(), hlo::kElementwise))
        return Agree(evaluation, instruction, 0, count, -1, operands);
      return absl::OkStatus();
  }
}

// Returns the attributes for operands of actual sizes.
hlo::Attributes ActualAttributes(Instruction instruction, const std::vector<Value>& operands) {
  hlo::Attributes attributes = instruction.attributes();
  if (operands.empty() || operands[0].array == nullptr) return attributes;
  const Shape& stated = instruction.operand(0).shape();
  const Dims& dims = operands[0].array->shape().dims;
  // Slices of a whole dimension have the dimension's actual size.
  const auto whole = [&](Dims& sizes) {
    for (int64_t d = 0; d < stated.rank(); ++d) {
      if (stated.IsDynamic(d) && sizes[d] == stated.dims[d]) sizes[d] = dims[d];
    }
  };
  if (auto* slice = std::get_if<hlo::SliceAttributes>(&attributes)) {
    for (int64_t d = 0; d < stated.rank(); ++d) {
      if (!stated.IsDynamic(d)) continue;
      slice->limit[d] = std::min(slice->limit[d], dims[d]);
      slice->start[d] = std::min(slice->start[d], slice->limit[d]);
    }
  } else if (auto* gather = std::get_if<hlo::GatherAttributes>(&attributes)) {
    whole(gather->slice_sizes);
  } else if (auto* dynamic = std::get_if<hlo::DynamicSliceAttributes>(&attributes)) {
    if (instruction.shape().HasDynamicDimension()) whole(dynamic->sizes);
  }
  return attributes;
}

// Returns the instruction's declared shape, for actual operands.
absl::StatusOr<Shape> ActualDeclared(Instruction instruction, const std::vector<Value>& operands) {
  Shape declared = instruction.shape();
  declared.layout.reset();
  const auto unknown = [&](int64_t d) {
    return Unimplemented("%s: no operand says what size dimension %d of %s has", instruction.name(), d,
                         ToStringNoLayout(instruction.shape()));
  };
  switch (instruction.opcode()) {
    case hlo::kBroadcast: {
      const Dims& dimensions = instruction.dimensions();
      for (size_t i = 0; i < dimensions.size(); ++i)
        declared.dims[dimensions[i]] = operands[0].array->shape().dims[i];
      for (int64_t d = 0; d < declared.rank(); ++d) {
        if (declared.IsDynamic(d) && std::ranges::find(dimensions, d) == dimensions.end()) return unknown(d);
      }
      break;
    }
    case hlo::kDynamicReshape:
      for (int64_t d = 0; d < declared.rank(); ++d) declared.dims[d] = IndexAt(*operands[1 + d].array, 0);
      for (int64_t d = 0; d < declared.rank(); ++d) {
        if (declared.dims[d] < 0) {
          return InvalidArgument("%s: size %d of dimension %d is negative", instruction.name(),
                                 declared.dims[d], d);
        }
      }
      break;
    case hlo::kReshape: {
      const Shape& stated = instruction.operand(0).shape();
      ASSIGN_OR_RETURN(const std::vector<hlo::ReshapeGroup> groups,
                       hlo::DynamicReshapeGroups(stated, instruction.shape()));
      for (const hlo::ReshapeGroup& group : groups) {
        if (!group.dynamic_output) continue;
        int64_t elements = 1, others = 1;
        for (const int64_t d : group.input) elements *= operands[0].array->shape().dims[d];
        for (const int64_t d : group.output) others *= d == *group.dynamic_output ? 1 : declared.dims[d];
        if (elements % others != 0) {
          return InvalidArgument("%s: %d elements are no whole number of rows of %d in dimension %d",
                                 instruction.name(), elements, others, *group.dynamic_output);
        }
        declared.dims[*group.dynamic_output] = elements / others;
      }
      break;
    }
    case hlo::kConvert:
    case hlo::kBitcastConvert:
    case hlo::kStochasticConvert:
    case hlo::kDot:
    case hlo::kConvolution: break;  // Only the element type is used.
    default: {
      for (int64_t d = 0; d < declared.rank(); ++d) {
        if (declared.IsDynamic(d) && operands.empty()) return unknown(d);
      }
    }
  }
  declared.dynamic.clear();
  return declared;
}

bool IsRefused(Opcode opcode) {
  using namespace hlo;  // NOLINT: the opcodes.
  switch (opcode) {
    case kRng:
    case kRngBitGenerator:
    case kRngGetAndUpdateState:
    case kBitcast:
    case kRaggedAllToAll:
    case kCustomCall: return true;
    default: return false;
  }
}

}  // namespace

absl::Status CheckDimensionSize(std::string_view name, int64_t size, int64_t bound, int64_t present) {
  if (size < 0 || size > bound) {
    return InvalidArgument("%s sets a dimension's size to %d, which lies outside [0, %d], its bound", name,
                           size, bound);
  }
  if (size > present) {
    return InvalidArgument("%s sets a dimension's size to %d, and only %d elements are there", name, size,
                           present);
  }
  return absl::OkStatus();
}

absl::Status CheckSameSize(std::string_view name, int64_t size, int64_t other, int64_t dimension) {
  if (size == other) return absl::OkStatus();
  return InvalidArgument("Operands of %s have sizes %d and %d in dimension %d", name, size, other, dimension);
}

bool FitsWithin(const Shape& actual, const Shape& stated) {
  if (actual.type != stated.type || actual.dims.size() != stated.dims.size() ||
      actual.tuple.size() != stated.tuple.size())
    return false;
  for (int64_t d = 0; d < actual.rank(); ++d) {
    const bool bounded = stated.IsDynamic(d) && stated.dims[d] != hlo::kUnboundedSize;
    if (actual.IsDynamic(d)) return false;
    if (bounded ? actual.dims[d] > stated.dims[d] : actual.dims[d] != stated.dims[d]) return false;
  }
  for (size_t i = 0; i < actual.tuple.size(); ++i) {
    if (!FitsWithin(actual.tuple[i], stated.tuple[i])) return false;
  }
  return true;
}

bool HasDynamicShapes(Instruction instruction) {
  if (instruction.shape().HasDynamicDimension()) return true;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (instruction.operand(i).shape().HasDynamicDimension()) return true;
  }
  return false;
}

absl::StatusOr<Literal> RunOnActualShapes(Evaluation& evaluation, Instruction instruction,
                                          std::vector<Value>& operands) {
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape())) {
    for (const int64_t size : leaf.shape->dims) {
      if (size != hlo::kUnboundedSize) continue;
      return Unimplemented("%s: a dimension without a bound cannot be run, and this is %s",
                           instruction.name(), ToStringNoLayout(instruction.shape()));
    }
  }
  if (instruction.opcode() == hlo::kSetDimensionSize)
    return SetDimensionSize(evaluation, instruction, Operands(absl::MakeSpan(operands)));
  if (IsRefused(instruction.opcode())) {
    return Unimplemented("%s: %s is not run on dynamic dimensions, and this is %s", instruction.name(),
                         Name(instruction.opcode()), ToStringNoLayout(instruction.shape()));
  }
  RETURN_IF_ERROR(AgreeOperands(evaluation, instruction, operands));

  // Builds the same instruction over parameters of the actual shapes.
  hlo::Computation actual(std::make_shared<hlo::Tables>(), instruction.name());
  hlo::Tables& tables = actual.tables();
  std::vector<Shape> shapes;
  std::vector<hlo::NodeId> nodes;
  for (size_t i = 0; i < operands.size(); ++i) {
    shapes.push_back(operands[i].array->shape());
    const hlo::Attributes number(hlo::ParameterAttributes{static_cast<int64_t>(i)});
    nodes.push_back(actual.Append(hlo::kParameter, tables.Intern(shapes.back()), tables.Intern(number), {}));
  }
  std::vector<const Shape*> pointers;
  for (const Shape& shape : shapes) pointers.push_back(&shape);
  std::vector<hlo::ProgramShape> signatures;
  for (const hlo::ComputationId callee : instruction.called())
    signatures.push_back(evaluation.module().computation(callee).program_shape());
  std::vector<const hlo::ProgramShape*> called;
  for (const hlo::ProgramShape& signature : signatures) called.push_back(&signature);
  const hlo::Attributes attributes = ActualAttributes(instruction, operands);
  ASSIGN_OR_RETURN(const Shape declared, ActualDeclared(instruction, operands));
  absl::StatusOr<Shape> inferred =
      hlo::InferShape({instruction.opcode(), attributes, pointers, called, &declared});
  if (!inferred.ok()) {
    return Annotate(inferred.status(), absl::StrCat("running ", instruction.name(), " on its actual sizes."));
  }
  if (!FitsWithin(*inferred, instruction.shape())) {
    return InvalidArgument("%s is %s on its actual sizes, which does not fit %s", instruction.name(),
                           ToStringNoLayout(*inferred), ToStringNoLayout(instruction.shape()));
  }
  const hlo::NodeId node = actual.Append(instruction.opcode(), tables.Intern(*inferred),
                                         tables.Intern(attributes), nodes, instruction.called());
  // With known sizes, a dynamic reshape is a reshape.
  const Rule rule =
      instruction.opcode() == hlo::kDynamicReshape ? Rule{.array = Reshape} : FindRule(actual[node]);
  if (rule.array == nullptr) {
    return Unimplemented("%s: the evaluator has no rule for %s of these types", instruction.name(),
                         Name(instruction.opcode()));
  }
  return rule.array(evaluation, actual[node], Operands(absl::MakeSpan(operands)));
}

bool IsSizeCheckTarget(std::string_view target) {
  return target == kCheckDimensionSizeTarget || target == kCheckSameSizeTarget;
}

namespace {

// Parses "<bound or dimension> <name>".
std::optional<std::pair<int64_t, std::string_view>> ReadSizeCheck(std::string_view opaque) {
  const size_t space = opaque.find(' ');
  int64_t number = 0;
  if (space == std::string_view::npos || !absl::SimpleAtoi(ToAbsl(opaque.substr(0, space)), &number))
    return std::nullopt;
  return std::make_pair(number, opaque.substr(space + 1));
}

bool IsSize(const Shape& shape) { return shape.IsScalar() && shape.type == hlo::kS32; }

}  // namespace

bool IsSizeCheck(Instruction instruction) {
  const auto& call = instruction.attributes<hlo::CustomCallAttributes>();
  return IsSizeCheckTarget(call.target) && instruction.operand_count() == 2 && IsSize(instruction.shape()) &&
         IsSize(instruction.operand(0).shape()) && IsSize(instruction.operand(1).shape()) &&
         ReadSizeCheck(call.backend_config).has_value();
}

absl::StatusOr<Literal> SizeCheck(Evaluation&, Instruction instruction, Operands operands) {
  const auto& call = instruction.attributes<hlo::CustomCallAttributes>();
  const auto [number, name] = *ReadSizeCheck(call.backend_config);
  const int64_t size = IndexAt(operands[0], 0), other = IndexAt(operands[1], 0);
  RETURN_IF_ERROR(call.target == kCheckDimensionSizeTarget ? CheckDimensionSize(name, size, number, other)
                                                           : CheckSameSize(name, size, other, number));
  return operands.Take(0);
}

// Stores a result in the form of common/hlo/dynamic/dynamic_result.h.
absl::StatusOr<Literal> StoreResult(Evaluation&, Instruction, Operands operands) {
  std::vector<int64_t> sizes;
  for (size_t i = 1; i < operands.size(); ++i) sizes.push_back(IndexAt(operands[i], 0));
  return hlo::ToStored(operands[0], sizes);
}

}  // namespace hlod::evaluator

namespace hlod {

hlo::CustomCallAttributes MakeSizeCheck(std::string_view target, std::string_view instruction_name,
                                        int64_t bound_or_dimension) {
  hlo::CustomCallAttributes attributes;
  attributes.target = std::string(target);
  attributes.backend_config = std::to_string(bound_or_dimension) + " " + std::string(instruction_name);
  return attributes;
}

}  // namespace hlod
