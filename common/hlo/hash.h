// The hashes by which instructions share shapes and attributes. They are seeded per process, because clients,
// who choose the values, could otherwise send many that collide.
#pragma once

#include <cstdint>

#include "common/hlo/attributes.h"
#include "common/hlo/literal.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// Equal values have equal hashes within one process; every field of a shape counts.
uint64_t HashOf(const Shape& shape);
uint64_t HashOf(const Attributes& attributes);
uint64_t HashOf(const Literal& literal);

}  // namespace hlod::hlo
