// Shardings as text, for those who write one by hand.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::hlo {

// "{devices=[2,1]<=[2]}" or "{replicated}", as HLO text spells a sharding, as a serialized OpSharding for an
// array of `rank` dimensions. INVALID_ARGUMENT "line:column: ..." for other text, and for tiles of another
// rank or another number of devices than tiles.
absl::StatusOr<std::string> ParseSharding(std::string_view text, size_t rank);

// The text of a serialized OpSharding; empty for none, and for one that has no text.
std::string ShardingToText(const std::string& serialized);

}  // namespace hlod::hlo
