// Values for programs whose data does not exist.
#pragma once

#include <random>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"

namespace hlod::cli {

// Returns values that are neither all small nor all equal: floats within (-1, 1), integers from 0 to 7.
absl::StatusOr<hlo::Literal> RandomLiteral(const hlo::Shape& shape, std::mt19937_64& random);

}  // namespace hlod::cli
