// What a lowering writes with: the builder of an open graph, and the few helpers that many operations share.
// A lowering neither knows nor asks whether it is traced, differentiated or run on the host.
#pragma once

#include <string>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "client/tensor/trace/trace.h"
#include "common/hlo/builder.h"
#include "hlod/ops/sizes.h"

namespace hlod::lazy {

using hlo::Op;

// What a lowering throws when its arguments do not go together. The operation's name, its arguments and the
// line are added on the way out.
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

  // A constant scalar.
  Op Number(PrimitiveType type, const Scalar& value);
  // A scalar whose value travels with the execute. On the host, where nothing is compiled, a constant.
  Op Varying(PrimitiveType type, const Scalar& value);
  // A scalar that stands in the program at `caller`: varying or constant, as TraceTables::IsParameter says.
  Op Number(PrimitiveType type, const Scalar& value, const Caller& caller);
  // A scalar that the user of an operation sets, such as a probability or a slope; `name` names it. It is a
  // constant until it differs from what it was at `caller` before, and a parameter from then on, so that a
  // schedule compiles twice and not in every step.
  Op Setting(PrimitiveType type, double value, const Caller& caller, const char* name);
  // The same for all of `dims`.
  Op Full(PrimitiveType type, const Dims& dims, const Scalar& value);
  // As NumPy broadcasts: sizes of 1 are repeated, dimensions are added in front. Refuses others.
  Op BroadcastTo(Op x, const Dims& dims);
  // `x` itself when it has the type. To pred: whether it is not zero, as PyTorch's bool.
  Op Convert(Op x, PrimitiveType type);
  Op Reshape(Op x, const Dims& dims);

  // Over `dimensions`, with the opcode's neutral value: add, multiply, minimum, maximum, and, or.
  Op Reduce(hlo::Opcode opcode, Op x, const Dims& dimensions);
  hlo::ComputationId Reducer(hlo::Opcode opcode, PrimitiveType type) {
    return TraceTables::Get().Reducer(opcode, type);
  }
};

// Refuses complex numbers where the opcode is maximum or minimum: PyTorch gives them no order.
void RequireOrder(hlo::Opcode opcode, PrimitiveType type);
// The value that leaves others unchanged under add, multiply, minimum, maximum, and, or.
Literal NeutralLiteral(hlo::Opcode opcode, PrimitiveType type);
// A scalar literal of `type`, rounded as a conversion does.
Literal NumberLiteral(PrimitiveType type, const Scalar& value);

// The dimension that `dim` names, counted from the end when negative: refused outside [-rank, rank).
int64_t WrapDim(int64_t dim, int64_t rank);
// WrapDim of each, refusing one named twice. Empty: all of them.
Dims WrapDims(absl::Span<const int64_t> dims, int64_t rank);
inline Dims WrapDims(Lowering& l, Op x, absl::Span<const int64_t> dims) {
  return WrapDims(dims, static_cast<int64_t>(l.dims(x).size()));
}
// What two shapes broadcast to; refused when they do not.
Dims BroadcastDims(const Dims& a, const Dims& b);
inline Dims Copied(absl::Span<const int64_t> dims) { return Dims(dims.begin(), dims.end()); }
// Without the last two, and with some behind: what linear algebra calls a batch of matrices.
inline Dims BatchOf(const Dims& dims) { return Dims(dims.begin(), dims.end() - 2); }
inline Dims With(Dims batch, std::initializer_list<int64_t> last) {
  batch.insert(batch.end(), last);
  return batch;
}
int64_t Count(absl::Span<const int64_t> dims);

// One size for each of `count` dimensions; one stands for all. `what` names them in the refusal of another
// number or of a size below `least`.
Dims SizesFor(const Sizes& sizes, int64_t count, const char* what, int64_t least);

// "[2, 3]".
std::string ListText(absl::Span<const int64_t> values);

}  // namespace hlod::lazy
