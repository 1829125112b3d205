// Collectives.
#include "client/import/conversion.h"

namespace hlod::stablehlo {

absl::Span<const Rule> CollectiveRules() { return {}; }

}  // namespace hlod::stablehlo
