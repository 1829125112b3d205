// What random operations are written with.
#pragma once

#include <string>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/generator.h"
#include "client/tensor/ops/creation/factories.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/throw.h"

namespace hlod::lazy {

// What every operation advances the stream by: two draws of 64 bits, the most that a lowering takes.
inline constexpr int kBitsPerElement = 128;

// Normal numbers from a position on.
Op NormalOps(Lowering& l, RandomState state, PrimitiveType type, const Dims& shape);
// -log(-log(u)) of uniform u between 0 and 1, which are not drawn.
Op GumbelOps(Lowering& l, Op uniform);

// The position of a draw in a lowering.
inline RandomState DrawFor(Lowering& l, const Dims& dims) {
  return Draw(l.graph.place, Count(dims), kBitsPerElement);
}

// A factory of random numbers: `lower` makes them from the position in the device's stream.
template <typename F>
Tensor RandomNumbers(const Operation& operation, DimList dims, PrimitiveType type,
                     const TensorOptions& options, const Caller& caller, F lower) {
  // A shape that is refused draws nothing.
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

// The same of a floating type.
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
