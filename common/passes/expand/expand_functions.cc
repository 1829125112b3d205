// Each instruction becomes a computation, which inlining later substitutes for its call.
#include "common/passes/expand/expand_functions.h"

#include <optional>
#include <vector>

#include "common/hlo/builder.h"
#include "common/hlo/elements/random_key.h"
#include "common/passes/copy.h"
#include "common/passes/expand/expand_random.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// Builds a batch norm: its parameters in the type of the computation, and the parts that all three kinds
// share.
class BatchNorm {
 public:
  BatchNorm(Module& to, Instruction instruction)
      : norm_(instruction.attributes<BatchNormAttributes>()),
        dims_(instruction.operand(0).shape().dims),
        type_(instruction.operand(0).shape().type == kF64 ? kF64 : kF32),
        adder_(AddScalarReducer(to, kAdd, type_)),
        b_(to, "batch_norm") {
    for (int64_t d = 0; d < static_cast<int64_t>(dims_.size()); ++d) {
      if (d != norm_.feature_index) others_.push_back(d);
    }
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
      Shape shape = instruction.operand(i).shape();
      shape.layout.reset();
      parameters_.push_back(b_.Convert(b_.Parameter(i, shape), type_));
    }
  }

  ComputationId Training(const Shape& result) {
    const Op x = parameters_[0], mean = Mean(x), centred = x - Each(mean), variance = Mean(centred * centred);
    const Op y = centred * Each(parameters_[1] / Deviation(variance)) + Each(parameters_[2]);
    return Finish(result, {y, mean, variance});
  }
  ComputationId Inference(const Shape& result) {
    const Op factor = parameters_[1] / Deviation(parameters_[4]);
    return Finish(result, {(parameters_[0] - Each(parameters_[3])) * Each(factor) + Each(parameters_[2])});
  }
  // With r = 1/sqrt(variance + epsilon) and h = (x - mean) r:
  //   d offset = sum g,  d scale = sum g h,  d x = scale r (g - mean(g) - h mean(g h)).
  ComputationId Gradient(const Shape& result) {
    const Op g = parameters_[4], deviation = Deviation(parameters_[3]);
    const Op h = (parameters_[0] - Each(parameters_[2])) / Each(deviation);
    const Op sum_g = Sum(g), sum_gh = Sum(g * h);
    const Op dx = Each(parameters_[1] / deviation) * (g - Each(sum_g / Count()) - h * Each(sum_gh / Count()));
    return Finish(result, {dx, sum_gh, sum_g});
  }

 private:
  Op Number(double value) {
    return type_ == kF64 ? b_.Constant(Literal::Scalar(value)) : b_.Constant(static_cast<float>(value));
  }
  // Returns the number of elements of a feature.
  Op Count() {
    double count = 1;
    for (const int64_t d : others_) count *= static_cast<double>(dims_[static_cast<size_t>(d)]);
    return Number(count);
  }
  Op Sum(Op x) { return b_.Reduce(x, Number(0), others_, adder_); }
  Op Mean(Op x) { return Sum(x) / Count(); }
  Op Deviation(Op variance) { return b_.Unary(kSqrt, variance + Number(norm_.epsilon)); }
  // Broadcasts one number per feature to each of the feature's elements.
  Op Each(Op x) { return b_.Broadcast(x, dims_, {norm_.feature_index}); }

  ComputationId Finish(const Shape& result, std::vector<Op> values) {
    const bool tuple = result.IsTuple();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = b_.Convert(values[i], tuple ? result.tuple[i].type : result.type);
    static_cast<void>(b_.Build(tuple ? b_.Tuple(values) : values[0]));
    return b_.id();
  }

  const BatchNormAttributes& norm_;
  const Dims dims_;
  const PrimitiveType type_;
  const ComputationId adder_;
  Builder b_;
  Dims others_;
  std::vector<Op> parameters_;
};

bool IsMapOfElements(const Module& module, Instruction instruction) {
  const Computation& body = module.computation(instruction.called()[0]);
  for (NodeId id = 0; id < body.size(); ++id) {
    const Instruction inner = body[id];
    const bool elements =
        inner.opcode() == kParameter || inner.opcode() == kConstant || HasTrait(inner.opcode(), kElementwise);
    if (!elements || !inner.shape().IsScalar()) return false;
  }
  return true;
}

// Makes the computation of a map on arrays: each scalar becomes an array.
ComputationId ExpandMap(const Module& module, Instruction instruction, Module& to) {
  const Computation& body = module.computation(instruction.called()[0]);
  Computation& arrays = AddEmptyCopy(to, body);
  Tables& tables = to.tables();
  InstructionCloner cloner(body, arrays, {.notes = false});
  for (NodeId id = 0; id < body.size(); ++id) {
    const Instruction inner = body[id];
    const ShapeId shape = tables.Intern(Shape::Array(inner.shape().type, instruction.shape().dims));
    if (inner.opcode() != kConstant) {
      cloner.Clone(id, {.shape = shape});
      continue;
    }
    const NodeId operands[] = {cloner.Clone(id)};
    const AttributesId no_dimensions = tables.Intern(Attributes(DimensionsAttributes{}));
    cloner.set_node(id, arrays.Append(kBroadcast, shape, no_dimensions, operands));
  }
  arrays.set_root(cloner.node(body.root_id()));
  return to.computation_count() - 1;
}

// A scaled dot: operands and scales in bf16, each scale repeated over its block, then a dot of the products.
class ScaledDot {
 public:
  ScaledDot(Module& to, Instruction instruction) : instruction_(instruction), b_(to, "scaled_dot") {
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
      Shape shape = instruction.operand(i).shape();
      shape.layout.reset();
      parameters_.push_back(b_.Convert(b_.Parameter(i, shape), kBF16));
    }
  }

  ComputationId Make() {
    Shape result = instruction_.shape();
    result.layout.reset();
    const Op operands[] = {Scaled(parameters_[0], parameters_[2]), Scaled(parameters_[1], parameters_[3])};
    static_cast<void>(
        b_.Build(b_.Add(kDot, operands, instruction_.attributes<DotAttributes>(), {}, &result)));
    return b_.id();
  }

 private:
  Op Scaled(Op x, Op scale) {
    const Dims dims = b_.shape(x).dims, blocks = b_.shape(scale).dims;
    if (dims == blocks) return x * scale;
    // Each dimension of the scale is followed by a dimension with the size of its blocks.
    Dims spread, kept;
    for (size_t d = 0; d < dims.size(); ++d) {
      kept.push_back(static_cast<int64_t>(spread.size()));
      spread.push_back(blocks[d]);
      spread.push_back(blocks[d] == 0 ? 1 : dims[d] / blocks[d]);
    }
    return x * b_.Reshape(b_.Broadcast(scale, spread, kept), dims);
  }

  const Instruction instruction_;
  Builder b_;
  std::vector<Op> parameters_;
};

bool IsFunction(const Module& module, Instruction instruction) {
  if (instruction.shape().HasDynamicDimension()) return false;
  switch (instruction.opcode()) {
    case kBatchNormTraining:
    case kBatchNormInference:
    case kBatchNormGrad:
    case kScaledDot:
    case kRng: return true;
    case kMap: return IsMapOfElements(module, instruction);
    default: return false;
  }
}

ComputationId Expand(const Module& module, Instruction instruction, Module& to, uint64_t& random) {
  switch (instruction.opcode()) {
    case kRng: return ExpandRng(to, instruction, RandomKey(random++));
    case kScaledDot: return ScaledDot(to, instruction).Make();
    case kBatchNormTraining: return BatchNorm(to, instruction).Training(instruction.shape());
    case kBatchNormInference: return BatchNorm(to, instruction).Inference(instruction.shape());
    case kBatchNormGrad: return BatchNorm(to, instruction).Gradient(instruction.shape());
    default: return ExpandMap(module, instruction, to);
  }
}

}  // namespace

bool HasFunctions(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (IsFunction(module, computation[id])) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> ExpandFunctions(const Module& module) {
  uint64_t random = 0;  // The number of rng instructions so far.
  return WithFunctions(
      module,
      [&](Instruction instruction, Module& to) -> std::optional<ComputationId> {
        if (!IsFunction(module, instruction)) return std::nullopt;
        return Expand(module, instruction, to, random);
      },
      [](ComputationCopy& copy, Instruction instruction, absl::InlinedVector<NodeId, 8>& operands) {
        if (instruction.opcode() != kRng) return;
        const ShapeId state = copy.tables().Intern(Shape::Array(kU64, {2}));
        operands.push_back(copy.Replace(instruction, kRngGetAndUpdateState, state,
                                        RngStateAttributes{WordsDrawn(instruction)}, {}));
      });
}

}  // namespace hlod::passes
