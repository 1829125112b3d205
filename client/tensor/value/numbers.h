// Constants for lowerings.
#pragma once

#include <limits>

namespace hlod::lazy {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace hlod::lazy
