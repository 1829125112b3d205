// The hashes that intern what instructions share: seeded for each process, because shapes and attributes come
// from strangers, who could otherwise send many that collide.
#pragma once

#include <cstdint>

#include "common/hlo/attributes.h"
#include "common/hlo/literal.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// Equal things have equal hashes in one process; every field of a shape counts.
uint64_t HashOf(const Shape& shape);
uint64_t HashOf(const Attributes& attributes);
uint64_t HashOf(const Literal& literal);

}  // namespace hlod::hlo
