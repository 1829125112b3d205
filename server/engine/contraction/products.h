// The choice of the library that computes a matrix product.
#pragma once

#include <string_view>

#include "common/hlo/primitive_type.h"
#include "server/engine/contraction/dot.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// oneDNN, the engine's panels (panels/panel_product.h), and its loops (LoopDot). Each computes some products
// only; the others then take their turn in this order.
enum class ProductLibrary { kOneDnn, kPanels, kLoops };
std::string_view Name(ProductLibrary library);  // "onednn"

// The kinds of products that differ in which library is fastest.
enum class ProductShape { kVector, kFewRows, kSmall, kLarge };
std::string_view Name(ProductShape shape);
ProductShape ShapeOf(const DotView& view);

// Returns the library that is fastest on this processor.
ProductLibrary BestProductLibrary(const DotView& view, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs,
                                  hlo::PrimitiveType out);

// Returns the step of a dot that uses the given library where that computes it, for tests.
MaybeStep MakeDotStepBy(ProductLibrary library, const hlo::Module& module, hlo::Instruction instruction,
                        int threads);

}  // namespace hlod::engine
