// Helpers for writing random operations.
#pragma once

#include <string>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/generator.h"
#include "client/tensor/ops/creation/factories.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/throw.h"

namespace hlod::lazy {

// The number of bits per element by which every operation advances the stream: two draws of 64 bits, the most
// that a lowering uses.
inline constexpr int kBitsPerElement = 128;

// Returns normal numbers drawn from the position `state`.
Op NormalOps(Lowering& l, RandomState state, PrimitiveType type, const Dims& shape);
// Returns -log(-log(u)). REQUIRES: `uniform` excludes 0 and 1.
Op GumbelOps(Lowering& l, Op uniform);

// Returns the position of a draw in a lowering, and advances the stream.
inline RandomState DrawFor(Lowering& l, const Dims& dims) {
  return Draw(l.graph.place, Count(dims), kBitsPerElement);
}

// A factory of random numbers: `lower` makes them from the position in the device's stream.
template <typename F>
Tensor RandomNumbers(const Operation& operation, DimList dims, PrimitiveType type,
                     const TensorOptions& options, const Caller& caller, F lower) {
  // A refused shape must not advance the stream.
  Explain(operation, {}, caller, [&] {
    const absl::Status valid = hlo::ValidateShape(Shape::Array(type, Copied(dims)));
    if (!valid.ok()) Refuse("%s", std::string(valid.message()));
  });
  const Device device = FactoryDevice(options.device);
  const RandomState state = Draw(PlaceOf(device), Count(dims), kBitsPerElement);
  return Create(
      operation, Copied(dims), type, device,
      [dims = Copied(dims), type, state, lower](Lowering& l) { return lower(l, state, type, dims); }, caller);
}

// Like RandomNumbers() for a floating type; throws for other types.
template <typename F>
Tensor RandomFloats(const Operation& operation, DimList dims, const TensorOptions& options,
                    const Caller& caller, F lower) {
  const PrimitiveType type = options.type.value_or(kF32);
  if (!hlo::IsFloat(type)) {
    Throw(ErrorKind::kArgument,
          absl::StrFormat("random numbers of type %s do not exist: take a floating type", hlo::Name(type)),
          operation.pytorch, caller);
  }
  return RandomNumbers(operation, dims, type, options, caller, lower);
}

}  // namespace hlod::lazy
