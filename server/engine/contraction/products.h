// The choice of the library that computes a matrix product.
#pragma once

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/contraction/dot.h"

namespace hlod::engine {

// oneDNN, the engine's panels (panels/panel_product.h), and its loops (LoopDot). Each computes some products
// only; the others then take their turn in this order.
enum class ProductLibrary { kOneDnn, kPanels, kLoops };
std::string_view Name(ProductLibrary library);  // "onednn"

// The kinds of products that differ in which library is fastest.
enum class ProductShape { kVector, kFewRows, kSmall, kLarge };
std::string_view Name(ProductShape shape);
ProductShape ShapeOf(const DotView& view);

// Returns the library that is fastest on this processor, or the one that UseProductLibrary set.
ProductLibrary BestProductLibrary(const DotView& view, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs,
                                  hlo::PrimitiveType out);

// Makes every product use a library by its name, where it can, for tests and measurements; "" chooses as
// usual. Returns INVALID_ARGUMENT for another name. Must be called before a program is compiled.
absl::Status UseProductLibrary(std::string_view name);

}  // namespace hlod::engine
