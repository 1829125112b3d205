// Shape rules of collectives. A group's size is known when the program lists its groups; otherwise it follows
// from the stated shape.
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

// Returns the shape itself for one operand, a tuple for several.
Shape OneOrTuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}

absl::Status ExpectOperands(const InferenceInput& in) {
  if (in.operands.empty()) return InvalidArgument("A %s has no operands.", OpName(in));
  return ExpectArrays(in);
}

std::vector<Shape> OperandShapes(const InferenceInput& in) {
  std::vector<Shape> shapes;
  for (const Shape* operand : in.operands) shapes.push_back(WithoutLayout(*operand));
  return shapes;
}

// Returns the collective's dimension, which must exist in every operand.
absl::StatusOr<int64_t> CollectiveDimension(const InferenceInput& in) {
  const Dims& dimensions = AttributesOf<CollectiveAttributes>(in).dimensions;
  if (dimensions.size() != 1) {
    return InvalidArgument("The number of dimensions (%d) that %s names differs from (1).", dimensions.size(),
                           OpName(in));
  }
  for (const Shape* operand : in.operands)
    RETURN_IF_ERROR(ExpectDimension(in, dimensions[0], operand->rank(), "dimension"));
  return dimensions[0];
}

// Returns the array that the instruction states for operand i, or null.
const Shape* DeclaredFor(const InferenceInput& in, size_t i) {
  if (in.declared == nullptr) return nullptr;
  if (in.operands.size() == 1) return in.declared->IsArray() ? in.declared : nullptr;
  return in.declared->IsTuple() && i < in.declared->tuple.size() ? &in.declared->tuple[i] : nullptr;
}

// Returns the number of participants per group: the size of the stated groups, else the quotient of `whole`
// and `part`, else 1.
absl::StatusOr<int64_t> ParticipantCount(const InferenceInput& in, int64_t part, int64_t whole) {
  const ReplicaGroups& groups = AttributesOf<CollectiveAttributes>(in).groups;
  RETURN_IF_ERROR(Annotate(CheckGroups(groups, MayHaveUnevenGroups(in.opcode)),
                           absl::StrCat("looking at the groups of ", ToAbsl(OpName(in)), ".")));
  if (const std::optional<int64_t> size = GroupSize(groups)) return *size;
  return part > 0 && whole > 0 && whole % part == 0 ? whole / part : 1;
}

// Returns the number of parts of an all-gather or reduce-scatter. With a channel and without
// use_global_device_ids, the groups name replicas, each with all of its partitions; the number of partitions
// then follows from the stated shape.
absl::StatusOr<int64_t> PartsOf(const InferenceInput& in, int64_t part, int64_t whole) {
  ASSIGN_OR_RETURN(const int64_t size, ParticipantCount(in, part, whole));
  const auto& attributes = AttributesOf<CollectiveAttributes>(in);
  const bool of_replicas = attributes.channel_id > 0 && !attributes.use_global_device_ids;
  if (!of_replicas || part <= 0 || whole <= 0 || whole % part != 0) return size;
  return whole / part % size == 0 ? whole / part : size;
}

// Returns each operand's shape with its dimension multiplied or divided by the number of parts. `declared(i)`
// is the shape that the instruction states for operand i.
template <typename Stated>
absl::StatusOr<std::vector<Shape>> Resized(const InferenceInput& in, bool grows, Stated stated) {
  RETURN_IF_ERROR(ExpectOperands(in));
  ASSIGN_OR_RETURN(const int64_t dimension, CollectiveDimension(in));
  std::vector<Shape> shapes = OperandShapes(in);
  for (size_t i = 0; i < shapes.size(); ++i) {
    int64_t& size = shapes[i].dims[static_cast<size_t>(dimension)];
    if (size == kUnboundedSize) continue;
    const Shape* said = stated(i);
    const bool comparable = said != nullptr && said->rank() == shapes[i].rank();
    const int64_t declared = comparable ? said->dims[static_cast<size_t>(dimension)] : size;
    ASSIGN_OR_RETURN(const int64_t count, grows ? PartsOf(in, size, declared) : PartsOf(in, declared, size));
    if (grows ? __builtin_mul_overflow(size, count, &size) : size % count != 0) {
      return InvalidArgument(
          "Dimension %d of operand %d shape (%s) of %s does not fit the (%d) that take part.", dimension, i,
          Text(Operand(in, i)), OpName(in), count);
    }
    if (!grows) size /= count;
  }
  return shapes;
}

absl::Status ExpectGroups(const InferenceInput& in) { return ParticipantCount(in, 0, 0).status(); }

// Returns an error unless the computation combines two scalars of the operands' type.
absl::Status ExpectJoins(const InferenceInput& in) {
  for (size_t i = 1; i < in.operands.size(); ++i) {
    if (Operand(in, i).type != Operand(in, 0).type)
      return absl::OkStatus();  // One computation cannot fit operands of several types.
  }
  return ExpectReducer(in, 0, {Operand(in, 0).type});
}

absl::Status ExpectPairs(const InferenceInput& in) {
  const auto& pairs = AttributesOf<PermuteAttributes>(in).pairs;
  Dims sources, targets;
  for (const auto& [source, target] : pairs) {
    if (source < 0 || target < 0) {
      return InvalidArgument("The pair (%d, %d) of %s names a negative device.", source, target, OpName(in));
    }
    sources.push_back(source);
    targets.push_back(target);
  }
  for (Dims* ids : {&sources, &targets}) {
    std::sort(ids->begin(), ids->end());
    const auto twice = std::adjacent_find(ids->begin(), ids->end());
    if (twice != ids->end()) {
      return InvalidArgument("The device (%d) is a %s of %s twice.", *twice,
                             ids == &sources ? "source" : "target", OpName(in));
    }
  }
  if (in.operands.size() == 4) {
    return Unimplemented(
        "A collective-permute of (4) operands, into slices of its second, has no rule here.");
  }
  return ExpectOperands(in);
}

}  // namespace

absl::StatusOr<Shape> InferAllReduce(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectOperands(in));
  RETURN_IF_ERROR(ExpectGroups(in));
  RETURN_IF_ERROR(ExpectJoins(in));
  return OneOrTuple(OperandShapes(in));
}

absl::StatusOr<Shape> InferEachOperand(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectOperands(in));
  RETURN_IF_ERROR(ExpectGroups(in));
  return OneOrTuple(OperandShapes(in));
}

absl::StatusOr<Shape> InferAllGather(const InferenceInput& in) {
  ASSIGN_OR_RETURN(std::vector<Shape> shapes,
                   Resized(in, /*grows=*/true, [&](size_t i) { return DeclaredFor(in, i); }));
  return OneOrTuple(std::move(shapes));
}

absl::StatusOr<Shape> InferAllGatherStart(const InferenceInput& in) {
  const auto stated = [&](size_t i) -> const Shape* {
    if (in.declared == nullptr || !in.declared->IsTuple() || in.declared->tuple.size() != 2) return nullptr;
    const Shape& results = in.declared->tuple[1];
    if (in.operands.size() == 1) return &results;
    return results.IsTuple() && i < results.tuple.size() ? &results.tuple[i] : nullptr;
  };
  ASSIGN_OR_RETURN(std::vector<Shape> shapes, Resized(in, /*grows=*/true, stated));
  return Shape::Tuple({OneOrTuple(OperandShapes(in)), OneOrTuple(std::move(shapes))});
}

absl::StatusOr<Shape> InferReduceScatter(const InferenceInput& in) {
  ASSIGN_OR_RETURN(std::vector<Shape> shapes,
                   Resized(in, /*grows=*/false, [&](size_t i) { return DeclaredFor(in, i); }));
  RETURN_IF_ERROR(ExpectJoins(in));
  return OneOrTuple(std::move(shapes));
}

absl::StatusOr<Shape> InferAllToAll(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectOperands(in));
  const auto& attributes = AttributesOf<CollectiveAttributes>(in);
  const auto operands = static_cast<int64_t>(in.operands.size());
  if (attributes.dimensions.empty()) {  // There is one operand per participant.
    for (size_t i = 1; i < in.operands.size(); ++i) {
      if (Operand(in, i).type == Operand(in, 0).type && SameDimensions(Operand(in, i), Operand(in, 0)))
        continue;
      return InvalidArgument("Operand %d shape (%s) of all-to-all differs from operand 0 shape (%s).", i,
                             Text(Operand(in, i)), Text(Operand(in, 0)));
    }
    ASSIGN_OR_RETURN(const int64_t count, ParticipantCount(in, 1, operands));
    if (count != operands) {
      return InvalidArgument("An all-to-all among (%d) has (%d) operands.", count, operands);
    }
    return Shape::Tuple(OperandShapes(in));
  }
  ASSIGN_OR_RETURN(const int64_t dimension, CollectiveDimension(in));
  if (operands != 1)
    return InvalidArgument("An all-to-all along a dimension has (%d) operands, not one.", operands);
  const int64_t size = Operand(in, 0).dims[static_cast<size_t>(dimension)];
  ASSIGN_OR_RETURN(const int64_t count, ParticipantCount(in, 0, 0));
  if (size != kUnboundedSize && size % count != 0) {
    return InvalidArgument("Dimension %d of operand 0 shape (%s) of all-to-all does not divide among (%d).",
                           dimension, Text(Operand(in, 0)), count);
  }
  return WithoutLayout(Operand(in, 0));
}

absl::StatusOr<Shape> InferRaggedAllToAll(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectOperands(in));
  const Shape &input = Operand(in, 0), &output = Operand(in, 1);
  bool fits = input.type == output.type && input.rank() == output.rank() && input.rank() > 0;
  for (int64_t d = 1; fits && d < input.rank(); ++d) fits = SizesAgree(input.dims[d], output.dims[d]);
  if (!fits) {
    return InvalidArgument(
        "Operand 0 shape (%s) of ragged-all-to-all has other rows than operand 1 shape (%s).", Text(input),
        Text(output));
  }
  const Shape& offsets = Operand(in, 2);
  for (size_t i = 2; i < 6; ++i) {
    const Shape& operand = Operand(in, i);
    if (IsInteger(operand.type) && operand.rank() == 1 && operand.dims == offsets.dims) continue;
    return InvalidArgument(
        "Operand %d shape (%s) of ragged-all-to-all is not a vector of (%s)'s length of integers.", i,
        Text(operand), Text(offsets));
  }
  ASSIGN_OR_RETURN(const int64_t count, ParticipantCount(in, 1, offsets.dims[0]));
  if (offsets.dims[0] != kUnboundedSize && offsets.dims[0] % count != 0) {
    return InvalidArgument("Operand 2 shape (%s) of ragged-all-to-all does not divide among (%d).",
                           Text(offsets), count);
  }
  return WithoutLayout(output);
}

absl::StatusOr<Shape> InferCollectivePermute(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectPairs(in));
  return OneOrTuple(OperandShapes(in));
}

// The result is (operands, results), and two words of context that older writers add.
absl::StatusOr<Shape> InferCollectivePermuteStart(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectPairs(in));
  const Shape both = OneOrTuple(OperandShapes(in));
  std::vector<Shape> elements = {both, both};
  if (in.declared != nullptr && in.declared->IsTuple() && in.declared->tuple.size() == 4)
    elements.resize(4, Shape::Scalar(kU32));
  return Shape::Tuple(std::move(elements));
}

}  // namespace hlod::hlo
