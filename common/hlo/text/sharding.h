// Shardings as text, for people who write them by hand.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::hlo {

// Converts "{devices=[2,1]<=[2]}" or "{replicated}", HLO text's form of a sharding, to a serialized
// OpSharding for an array of `rank` dimensions. INVALID_ARGUMENT "line:column: ..." for other text, for tiles
// of another rank, and when the number of devices differs from the number of tiles.
absl::StatusOr<std::string> ParseSharding(std::string_view text, size_t rank);

// Returns the text of a serialized OpSharding; empty for an empty OpSharding, and for one without a text
// form.
std::string ShardingToText(const std::string& serialized);

}  // namespace hlod::hlo
