// The module builder of programs and tests, with a function per common opcode, as XLA's XlaBuilder has.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

class Builder;

// A value in a builder's computation. Cheap to copy; valid only with the builder that made it.
struct Op {
  Builder* builder = nullptr;
  NodeId id = 0;
};

// Appends to one computation of a module. The first error is kept: later calls do nothing, and Build()
// returns it with the name of the operation. Operands of binary operations must have equal dimensions, except
// that scalars are broadcast to the other operand's shape.
//
//   Module module("step");
//   Builder b(module, "main");
//   Op x = b.Parameter(0, Shape::Array(kF32, {8, 4}), "x");
//   Op y = b.Reduce(x, b.Constant(0.0f), {1}, add);
//   RETURN_IF_ERROR(b.Build(y));
class Builder {
 public:
  // Starts a new computation in `module`, which must outlive the builder. Callees must be finished before
  // their callers are started.
  Builder(Module& module, std::string name);
  // Appends to `open`, a computation outside any module over the tables of `callees` (an open trace). It may
  // call every computation of `callees`, including ones added later. Both must outlive the builder.
  Builder(Module& callees, Computation& open);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Ends the computation with `root`. Returns the kept error, if any, of kind invalid_program or
  // unimplemented. The computation is the module's entry when it is the last one built. Until this returns
  // OK, the module cannot be compiled (CheckBuilt).
  [[nodiscard]] absl::Status Build(Op root);
  const absl::Status& status() const { return status_; }
  // Clears and returns the kept error, so that a trace survives an operation that was refused.
  absl::Status TakeStatus() { return std::exchange(status_, absl::OkStatus()); }
  ComputationId id() const { return id_; }
  Module& module() { return module_; }
  // Returns the shape of a value (kInvalid after an error).
  const Shape& shape(Op op) const;
  // Returns the notes of a value. REQUIRES: no sticky error.
  Notes& mutable_notes(Op op) { return computation_.mutable_notes(op.id); }

  // Appends an instruction of any opcode, with its shape inferred. `declared` is needed by some opcodes
  // (InferenceInput::declared). Attributes that are not passed get the opcode's defaults.
  // (Two functions, because a default argument would make every file that includes this header instantiate
  // the variant.)
  Op Add(Opcode opcode, absl::Span<const Op> operands);
  Op Add(Opcode opcode, absl::Span<const Op> operands, const Attributes& attributes,
         absl::Span<const ComputationId> called = {}, const Shape* declared = nullptr);

  Op Parameter(int64_t number, const Shape& shape, std::string name = "");
  Op Constant(Literal literal);
  Op Constant(float value) { return Constant(Literal::Scalar(value)); }
  Op Iota(const Shape& shape, int64_t dimension);
  Op Tuple(absl::Span<const Op> elements);
  Op GetTupleElement(Op tuple, int64_t index);

  Op Unary(Opcode opcode, Op x);
  // Appends a binary operation. A scalar is broadcast to the other operand's dimensions.
  Op Binary(Opcode opcode, Op x, Op y);
  Op Compare(Op x, Op y, ComparisonDirection direction);
  Op Select(Op pred, Op on_true, Op on_false);
  Op Clamp(Op low, Op x, Op high);
  Op Convert(Op x, PrimitiveType type);

  // Operand dimension i becomes output dimension dimensions[i].
  Op Broadcast(Op x, absl::Span<const int64_t> output_dims, absl::Span<const int64_t> dimensions);
  Op Reshape(Op x, absl::Span<const int64_t> dims);
  Op Transpose(Op x, absl::Span<const int64_t> permutation);
  Op Slice(Op x, absl::Span<const int64_t> start, absl::Span<const int64_t> limit,
           absl::Span<const int64_t> stride = {});
  Op DynamicSlice(Op x, absl::Span<const Op> starts, absl::Span<const int64_t> sizes);
  Op DynamicUpdateSlice(Op x, Op update, absl::Span<const Op> starts);
  Op Pad(Op x, Op value, absl::Span<const PadDimension> padding);
  Op Concatenate(absl::Span<const Op> operands, int64_t dimension);

  Op Dot(Op lhs, Op rhs, DotAttributes attributes);
  // Multiplies [m,k] by [k,n].
  Op MatMul(Op lhs, Op rhs);
  Op Convolution(Op lhs, Op rhs, ConvolutionAttributes attributes);
  Op Reduce(Op x, Op init, absl::Span<const int64_t> dimensions, ComputationId reducer);
  Op ReduceWindow(Op x, Op init, Window window, ComputationId reducer);
  Op Call(absl::Span<const Op> arguments, ComputationId computation);
  Op While(Op init, ComputationId condition, ComputationId body);
  Op Conditional(Op selector, absl::Span<const Op> operands, absl::Span<const ComputationId> branches);

 private:
  // An opcode over interned attributes and shapes, with the inferred result: a cache, because a trace repeats
  // the same ones.
  struct Inferred {
    static constexpr ShapeId kNone = UINT32_MAX;
    uint32_t opcode_and_count = UINT32_MAX;
    AttributesId attributes = 0;
    ShapeId declared = kNone;
    std::array<ShapeId, 3> operands{};
    ShapeId result = 0;
  };
  static constexpr size_t kInferredSlots = 256;

  static constexpr ComputationId kOpen = UINT32_MAX;  // The id of a computation outside any module.

  Op Fail(absl::Status status);
  bool Owns(absl::Span<const Op> operands);
  AttributesId InternAttributes(Opcode opcode, const Attributes& attributes);
  Op Append(Opcode opcode, absl::Span<const NodeId> operands, AttributesId attributes,
            absl::Span<const ComputationId> called, const Shape* declared);
  absl::StatusOr<ShapeId> Infer(Opcode opcode, absl::Span<const NodeId> operands, AttributesId attributes,
                                absl::Span<const ComputationId> called, const Shape* declared);
  // Broadcasts a scalar to the dimensions of `like`; returns any other value unchanged.
  Op Fit(Op x, Op like);
  Op BroadcastTo(Op x, const Shape& shape, absl::Span<const int64_t> dimensions);

  Module& module_;
  Computation& computation_;
  ComputationId id_;
  absl::Status status_;
  std::array<Inferred, kInferredSlots> inferred_;
  std::array<AttributesId, std::variant_size_v<Attributes>>
      default_attributes_{};                          // The ids by alternative; 0 means not interned yet.
  std::map<ComputationId, ProgramShape> signatures_;  // Signatures of the computations called so far.
};

// Returns OK when a program can be compiled from the module. Otherwise returns an error of kind
// invalid_program or unimplemented: there is no computation, or one is empty, not finished by its Builder, or
// its Builder failed (then the builder's error).
absl::Status CheckBuilt(const Module& module);

// Adds a reducer, a computation of two scalar parameters of `type` joined by `opcode` (kAdd, kMaximum, ...),
// and returns its id.
ComputationId AddScalarReducer(Module& module, Opcode opcode, PrimitiveType type);

inline Op operator+(Op x, Op y) { return x.builder->Binary(kAdd, x, y); }
inline Op operator-(Op x, Op y) { return x.builder->Binary(kSubtract, x, y); }
inline Op operator*(Op x, Op y) { return x.builder->Binary(kMultiply, x, y); }
inline Op operator/(Op x, Op y) { return x.builder->Binary(kDivide, x, y); }

}  // namespace hlod::hlo
