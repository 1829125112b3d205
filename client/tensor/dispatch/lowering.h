// The tools of a lowering: the builder of an open trace, and the few helpers that many operations share. A
// lowering does not depend on whether it is traced, differentiated or run on the host.
#pragma once

#include <string>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "client/tensor/trace/trace.h"
#include "common/hlo/builder.h"
#include "hlod/ops/sizes.h"

namespace hlod::lazy {

using hlo::Op;

// Thrown by a lowering whose arguments are not compatible. The caller adds the operation's name, its
// arguments and the line.
struct Refusal {
  absl::Status status;
};
template <typename... Args>
[[noreturn]] void Refuse(const absl::FormatSpec<Args...>& format, const Args&... args) {
  throw Refusal{MakeError(ErrorKind::kArgument, absl::StrFormat(format, args...))};
}

struct Lowering {
  explicit Lowering(Trace& graph) : graph(graph), b(graph.builder()) {}

  Trace& graph;
  hlo::Builder& b;

  const Shape& shape(Op x) const { return b.shape(x); }
  const Dims& dims(Op x) const { return b.shape(x).dims; }
  PrimitiveType type(Op x) const { return b.shape(x).type; }

  // Returns a constant scalar.
  Op Number(PrimitiveType type, const Scalar& value);
  // Returns a scalar whose value is sent with the execute; a constant on the host, where programs are not
  // compiled.
  Op Varying(PrimitiveType type, const Scalar& value);
  // Returns a scalar written by the program at `caller`: varying or constant, as TraceTables::IsParameter
  // decides.
  Op Number(PrimitiveType type, const Scalar& value, const Caller& caller);
  // Returns true once the setting `name` of the operation that is being recorded, such as a probability or a
  // slope, has differed from its first value at the line; false on the host, where programs are not compiled.
  bool Varies(const Scalar& value, const char* name);
  // Returns a scalar that the user of an operation sets. It is a constant until it varies, and a parameter
  // from then on, so that a schedule compiles twice instead of in every step.
  Op Setting(PrimitiveType type, const Scalar& value, const char* name);
  // Returns an array of `dims` filled with a constant.
  Op Full(PrimitiveType type, const Dims& dims, const Scalar& value);
  // Broadcasts like NumPy: sizes of 1 are repeated, dimensions are added in front. Refuses other shapes.
  Op BroadcastTo(Op x, const Dims& dims);
  // Returns `x` itself when it has the type. A conversion to pred tests whether the element is not zero, as
  // PyTorch's bool().
  Op Convert(Op x, PrimitiveType type);
  Op Reshape(Op x, const Dims& dims);

  // Reduces over `dimensions`, starting from the neutral value of the opcode: add, multiply, minimum,
  // maximum, and, or.
  Op Reduce(hlo::Opcode opcode, Op x, const Dims& dimensions);
  hlo::ComputationId Reducer(hlo::Opcode opcode, PrimitiveType type) {
    return TraceTables::Get().Reducer(opcode, type);
  }
};

// Refuses complex numbers when the opcode is maximum or minimum: PyTorch does not order them.
void RequireOrder(hlo::Opcode opcode, PrimitiveType type);
// Returns the value that leaves others unchanged under add, multiply, minimum, maximum, and, or.
Literal NeutralLiteral(hlo::Opcode opcode, PrimitiveType type);
// Returns a scalar literal of `type`, rounded like a conversion.
Literal NumberLiteral(PrimitiveType type, const Scalar& value);

// Returns the dimension that `dim` names, counted from the end when negative. Refuses values outside [-rank,
// rank).
int64_t WrapDim(int64_t dim, int64_t rank);
// Returns WrapDim of each dimension; refuses one named twice. Empty `dims` mean all dimensions.
Dims WrapDims(absl::Span<const int64_t> dims, int64_t rank);
inline Dims WrapDims(Lowering& l, Op x, absl::Span<const int64_t> dims) {
  return WrapDims(dims, static_cast<int64_t>(l.dims(x).size()));
}
// Returns the shape that two shapes broadcast to; refuses shapes that do not broadcast.
Dims BroadcastDims(const Dims& a, const Dims& b);
inline Dims Copied(absl::Span<const int64_t> dims) { return Dims(dims.begin(), dims.end()); }
// BatchOf() returns the dimensions of a batch of matrices without the last two; With() appends some.
inline Dims BatchOf(const Dims& dims) { return Dims(dims.begin(), dims.end() - 2); }
inline Dims With(Dims batch, std::initializer_list<int64_t> last) {
  batch.insert(batch.end(), last);
  return batch;
}
int64_t Count(absl::Span<const int64_t> dims);

// Returns `count` sizes, one per dimension; a single size applies to all. Refuses another number of sizes,
// and sizes below `least` or above 2^31 - 1, so that a product of two fits; `what` names them.
Dims SizesFor(const Sizes& sizes, int64_t count, const char* what, int64_t least);

// Returns "[2, 3]".
std::string ListText(absl::Span<const int64_t> values);

}  // namespace hlod::lazy
