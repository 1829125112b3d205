// Draws values as f32 and converts them.
#include "client/cli/run/random_literal.h"

namespace hlod::cli {

absl::StatusOr<hlo::Literal> RandomLiteral(const hlo::Shape& shape, std::mt19937_64& random) {
  hlo::Literal values(hlo::Shape::Array(hlo::kF32, shape.dims));
  const bool floats = hlo::IsFloat(shape.type) || hlo::IsComplex(shape.type);
  std::uniform_real_distribution<float> real(-1.0f, 1.0f);
  std::uniform_int_distribution<int> integer(0, shape.type == hlo::kPred ? 1 : 7);
  for (float& value : values.data<float>())
    value = floats ? real(random) : static_cast<float>(integer(random));
  return hlo::Convert(values, shape.type);
}

}  // namespace hlod::cli
