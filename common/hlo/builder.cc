// The module builder: infers each shape, keeps the first error, and caches inferences that a trace repeats.
#include "common/hlo/builder.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/hlo/inference/shape_inference.h"

namespace hlod::hlo {
namespace {

Dims ToDims(absl::Span<const int64_t> values) { return Dims(values.begin(), values.end()); }

// Returns the default value of the alternative of Attributes at `index`.
template <size_t I = 0>
Attributes DefaultAttributes(size_t index) {
  if constexpr (I < std::variant_size_v<Attributes>) {
    return index == I ? Attributes(std::in_place_index<I>) : DefaultAttributes<I + 1>(index);
  } else {
    return NoAttributes{};
  }
}

const Shape& InvalidShape() {
  static const Shape* const shape = new Shape;
  return *shape;
}

}  // namespace

Builder::Builder(Module& module, std::string name)
    : module_(module),
      computation_(module.AddComputation(std::move(name))),
      id_(module.computation_count() - 1) {
  computation_.set_built(MakeError(
      ErrorKind::kInvalidProgram,
      absl::StrFormat("Computation %s is not finished: Build() was not called.", computation_.name())));
}

Builder::Builder(Module& callees, Computation& open)
    : module_(callees), computation_(open), id_(kOpen) {}

absl::Status Builder::Build(Op root) {
  RETURN_IF_ERROR(status_);
  if (!Owns({root})) return status_;
  computation_.set_built(absl::OkStatus());
  computation_.set_root(root.id);
  if (id_ != kOpen) module_.set_entry(id_);
  return absl::OkStatus();
}

const Shape& Builder::shape(Op op) const {
  return status_.ok() && op.builder == this && op.id < computation_.size() ? computation_[op.id].shape()
                                                                           : InvalidShape();
}

Op Builder::Fail(absl::Status status) {
  if (status_.ok()) {
    status_ = AsProgramError(status);
    computation_.set_built(status_);
  }
  return {this, 0};
}

bool Builder::Owns(absl::Span<const Op> operands) {
  for (const Op op : operands) {
    if (op.builder != this || op.id >= computation_.size()) {
      Fail(InvalidArgument("An operand is not a value of computation (%s).", computation_.name()));
      return false;
    }
  }
  return true;
}

AttributesId Builder::InternAttributes(Opcode opcode, const Attributes& attributes) {
  if (attributes.index() != 0) return module_.tables().Intern(attributes);
  const size_t wanted = Info(opcode).attributes;
  AttributesId& id = default_attributes_[wanted];
  if (wanted != 0 && id == 0) id = module_.tables().Intern(DefaultAttributes(wanted));
  return id;
}

absl::StatusOr<ShapeId> Builder::Infer(Opcode opcode, absl::Span<const NodeId> operands,
                                       AttributesId attributes, absl::Span<const ComputationId> called,
                                       const Shape* declared) {
  Tables& tables = module_.tables();
  Inferred key;
  const bool remembered = called.empty() && operands.size() <= key.operands.size();
  Inferred* slot = nullptr;
  if (remembered) {
    key.opcode_and_count = static_cast<uint32_t>(opcode) | static_cast<uint32_t>(operands.size()) << 8;
    key.attributes = attributes;
    if (declared != nullptr) key.declared = tables.Intern(*declared);
    for (size_t i = 0; i < operands.size(); ++i) key.operands[i] = computation_[operands[i]].shape_id();
    uint64_t hash =
        key.opcode_and_count * 0x9e3779b97f4a7c15u ^ (uint64_t{key.attributes} << 32 | key.declared);
    for (const ShapeId id : key.operands) hash = (hash ^ id) * 0x9e3779b97f4a7c15u;
    slot = &inferred_[hash >> 56];
    if (slot->opcode_and_count == key.opcode_and_count && slot->attributes == key.attributes &&
        slot->declared == key.declared && slot->operands == key.operands) {
      return slot->result;
    }
  }
  absl::InlinedVector<const Shape*, 8> shapes;
  absl::InlinedVector<const ProgramShape*, 2> signatures;
  for (const NodeId id : operands) shapes.push_back(&computation_[id].shape());
  for (const ComputationId callee : called) {
    if (callee >= id_ || callee >= module_.computation_count()) {
      return InvalidArgument("The computation (%d) called by %s is not finished before its caller starts.",
                             callee, Name(opcode));
    }
    auto [found, added] = signatures_.try_emplace(callee);
    if (added) found->second = module_.computation(callee).program_shape();
    signatures.push_back(&found->second);
  }
  ASSIGN_OR_RETURN(const Shape shape,
                   InferShape({opcode, tables.attributes(attributes), shapes, signatures, declared}));
  key.result = tables.Intern(shape);
  if (slot != nullptr) *slot = key;
  return key.result;
}

Op Builder::Add(Opcode opcode, absl::Span<const Op> operands) {
  return Add(opcode, operands, NoAttributes{});
}

Op Builder::Add(Opcode opcode, absl::Span<const Op> operands, const Attributes& attributes,
                absl::Span<const ComputationId> called, const Shape* declared) {
  if (!status_.ok() || !Owns(operands)) return {this, 0};
  absl::InlinedVector<NodeId, 8> ids;
  for (const Op op : operands) ids.push_back(op.id);
  return Append(opcode, ids, InternAttributes(opcode, attributes), called, declared);
}

Op Builder::Append(Opcode opcode, absl::Span<const NodeId> operands, AttributesId attributes,
                   absl::Span<const ComputationId> called, const Shape* declared) {
  absl::StatusOr<ShapeId> shape = Infer(opcode, operands, attributes, called, declared);
  if (!shape.ok()) {
    return Fail(Annotate(std::move(shape).status(),
                         absl::StrCat("adding instruction ", computation_.size(), " (", ToAbsl(Name(opcode)),
                                      ") to computation (", computation_.name(), ").")));
  }
  return {this, computation_.Append(opcode, *shape, attributes, operands, called)};
}

Op Builder::Parameter(int64_t number, const Shape& shape, std::string name) {
  const Op op = Add(kParameter, {}, ParameterAttributes{number}, {}, &shape);
  if (status_.ok() && !name.empty()) computation_.mutable_notes(op.id).name = std::move(name);
  return op;
}

Op Builder::Constant(Literal literal) {
  const Shape shape = literal.shape();
  const LiteralId id = module_.tables().Intern(std::make_shared<const Literal>(std::move(literal)));
  return Add(kConstant, {}, ConstantAttributes{id}, {}, &shape);
}

Op Builder::Iota(const Shape& shape, int64_t dimension) {
  return Add(kIota, {}, DimensionsAttributes{{dimension}}, {}, &shape);
}

Op Builder::Tuple(absl::Span<const Op> elements) { return Add(kTuple, elements); }
Op Builder::GetTupleElement(Op tuple, int64_t index) {
  return Add(kGetTupleElement, {tuple}, TupleIndexAttributes{index});
}

Op Builder::BroadcastTo(Op x, const Shape& shape, absl::Span<const int64_t> dimensions) {
  return Add(kBroadcast, {x}, DimensionsAttributes{ToDims(dimensions)}, {}, &shape);
}

Op Builder::Fit(Op x, Op like) {
  const Shape &from = shape(x), &to = shape(like);
  if (!from.IsScalar() || !to.IsArray() || to.dims.empty()) return x;
  Shape target = to;
  target.type = from.type;
  target.layout.reset();
  return BroadcastTo(x, target, {});
}

Op Builder::Unary(Opcode opcode, Op x) { return Add(opcode, {x}); }

Op Builder::Binary(Opcode opcode, Op x, Op y) {
  if (!status_.ok() || !Owns({x, y})) return {this, 0};
  if (computation_[x.id].shape_id() == computation_[y.id].shape_id()) {
    const NodeId operands[] = {x.id, y.id};
    return Append(opcode, operands, InternAttributes(opcode, NoAttributes{}), {}, nullptr);
  }
  const Op left = Fit(x, y);
  return Add(opcode, {left, Fit(y, x)});
}

Op Builder::Compare(Op x, Op y, ComparisonDirection direction) {
  const CompareAttributes attributes{direction, DefaultComparisonType(shape(x).type)};
  const Op left = Fit(x, y);
  return Add(kCompare, {left, Fit(y, x)}, attributes);
}

Op Builder::Select(Op pred, Op on_true, Op on_false) {
  // Scalar data is broadcast to the dimensions of the other operands; a scalar predicate may stay scalar.
  const Op left = Fit(Fit(on_true, on_false), pred);
  const Op right = Fit(Fit(on_false, on_true), pred);
  return Add(kSelect, {pred, left, right});
}

Op Builder::Clamp(Op low, Op x, Op high) { return Add(kClamp, {low, x, high}); }

Op Builder::Convert(Op x, PrimitiveType type) {
  Shape target = shape(x);
  target.type = type;
  target.layout.reset();
  return Add(kConvert, {x}, NoAttributes{}, {}, &target);
}

Op Builder::Broadcast(Op x, absl::Span<const int64_t> output_dims, absl::Span<const int64_t> dimensions) {
  return BroadcastTo(x, Shape::Array(shape(x).type, output_dims), dimensions);
}

Op Builder::Reshape(Op x, absl::Span<const int64_t> dims) {
  const Shape target = Shape::Array(shape(x).type, dims);
  return Add(kReshape, {x}, NoAttributes{}, {}, &target);
}

Op Builder::Transpose(Op x, absl::Span<const int64_t> permutation) {
  return Add(kTranspose, {x}, DimensionsAttributes{ToDims(permutation)});
}

Op Builder::Slice(Op x, absl::Span<const int64_t> start, absl::Span<const int64_t> limit,
                  absl::Span<const int64_t> stride) {
  const Dims strides = stride.empty() ? Dims(start.size(), 1) : ToDims(stride);
  return Add(kSlice, {x}, SliceAttributes{ToDims(start), ToDims(limit), strides});
}

namespace {

absl::InlinedVector<Op, 8> Followed(std::initializer_list<Op> first, absl::Span<const Op> rest) {
  absl::InlinedVector<Op, 8> all(first);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace

Op Builder::DynamicSlice(Op x, absl::Span<const Op> starts, absl::Span<const int64_t> sizes) {
  return Add(kDynamicSlice, Followed({x}, starts), DynamicSliceAttributes{ToDims(sizes)});
}

Op Builder::DynamicUpdateSlice(Op x, Op update, absl::Span<const Op> starts) {
  return Add(kDynamicUpdateSlice, Followed({x, update}, starts));
}

Op Builder::Pad(Op x, Op value, absl::Span<const PadDimension> padding) {
  return Add(kPad, {x, value}, PadAttributes{{padding.begin(), padding.end()}});
}

Op Builder::Concatenate(absl::Span<const Op> operands, int64_t dimension) {
  return Add(kConcatenate, operands, DimensionsAttributes{{dimension}});
}

Op Builder::Dot(Op lhs, Op rhs, DotAttributes attributes) {
  return Add(kDot, {lhs, rhs}, std::move(attributes));
}

Op Builder::MatMul(Op lhs, Op rhs) {
  DotAttributes attributes;
  attributes.lhs_contracting = {1};
  attributes.rhs_contracting = {0};
  return Dot(lhs, rhs, std::move(attributes));
}

Op Builder::Convolution(Op lhs, Op rhs, ConvolutionAttributes attributes) {
  return Add(kConvolution, {lhs, rhs}, std::move(attributes));
}

Op Builder::Reduce(Op x, Op init, absl::Span<const int64_t> dimensions, ComputationId reducer) {
  return Add(kReduce, {x, init}, DimensionsAttributes{ToDims(dimensions)}, {reducer});
}

Op Builder::ReduceWindow(Op x, Op init, Window window, ComputationId reducer) {
  return Add(kReduceWindow, {x, init}, WindowAttributes{std::move(window)}, {reducer});
}

Op Builder::Call(absl::Span<const Op> arguments, ComputationId computation) {
  return Add(kCall, arguments, CallAttributes{}, {computation});
}

Op Builder::While(Op init, ComputationId condition, ComputationId body) {
  return Add(kWhile, {init}, NoAttributes{}, {body, condition});
}

Op Builder::Conditional(Op selector, absl::Span<const Op> operands,
                        absl::Span<const ComputationId> branches) {
  return Add(kConditional, Followed({selector}, operands), NoAttributes{}, branches);
}

absl::Status CheckBuilt(const Module& module) {
  if (module.computation_count() == 0) {
    return MakeError(ErrorKind::kInvalidProgram,
                     absl::StrFormat("Module %s has no computation.", module.name()));
  }
  for (ComputationId id = 0; id < module.computation_count(); ++id) {
    const Computation& computation = module.computation(id);
    if (!computation.built().ok()) {
      return Annotate(computation.built(), absl::StrFormat("compiling module %s.", module.name()));
    }
    if (computation.size() == 0) {
      return MakeError(ErrorKind::kInvalidProgram,
                       absl::StrFormat("Computation %s of module %s has no instruction.", computation.name(),
                                       module.name()));
    }
  }
  return absl::OkStatus();
}

ComputationId AddScalarReducer(Module& module, Opcode opcode, PrimitiveType type) {
  Builder builder(
      module, absl::StrCat(ToAbsl(Name(opcode)), "_", ToAbsl(Name(type)), ".", module.computation_count()));
  const Op x = builder.Parameter(0, Shape::Scalar(type)), y = builder.Parameter(1, Shape::Scalar(type));
  // When the opcode does not accept the type, CheckBuilt reports the error.
  builder.Build(builder.Binary(opcode, x, y)).IgnoreError();
  return builder.id();
}

}  // namespace hlod::hlo
