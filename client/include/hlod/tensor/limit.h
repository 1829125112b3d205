// The limits of numbers that functions and layers take.
#pragma once

namespace hlod {

enum class Limit {
  kNone,
  kNotNegative,  // >= 0
  kPositive,     // > 0
  kBelowOne,     // [0, 1)
  kUpToOne,      // [0, 1]
  kInsideOne,    // (0, 1)
  kAboveOne,     // > 1
  kNotZero,
  kFromMinusOne,  // >= -1
};

}  // namespace hlod
