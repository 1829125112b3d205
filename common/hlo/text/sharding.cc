// Converts shardings to and from text.
#include "common/hlo/text/sharding.h"

#include "absl/strings/str_join.h"
#include "common/base/text/strings.h"
#include "common/hlo/text/internal.h"

namespace hlod::hlo {
namespace {

absl::Status CheckTiles(const xla::OpSharding& sharding, size_t rank, std::string_view text) {
  const auto& tiles = sharding.tile_assignment_dimensions();
  const size_t subgroups =
      sharding.replicate_on_last_tile_dim() ? 1 : static_cast<size_t>(sharding.last_tile_dims_size());
  if (static_cast<size_t>(tiles.size()) != rank + subgroups) {
    return InvalidArgument("The sharding %s has %d tile dimensions; an array of rank %d takes %d.", text,
                           tiles.size(), rank, rank + subgroups);
  }
  // Returns 0 when the product is not a number of devices.
  const auto product = [](const auto& sizes) {
    constexpr int64_t kDevicesMax = int64_t{1} << 31;
    int64_t count = 1;
    for (const int64_t size : sizes) {
      if (size <= 0 || size > kDevicesMax / count) return int64_t{0};
      count *= size;
    }
    return count;
  };
  const int64_t devices = sharding.iota_reshape_dims_size() != 0 ? product(sharding.iota_reshape_dims())
                                                                 : sharding.tile_assignment_devices_size();
  if (product(tiles) == devices && devices > 0) return absl::OkStatus();
  return InvalidArgument("The sharding %s has tiles [%s] for %d devices.", text, absl::StrJoin(tiles, ","),
                         devices);
}

}  // namespace

absl::StatusOr<std::string> ParseSharding(std::string_view text, size_t rank) {
  Lexer lexer(text);
  xla::OpSharding sharding;
  RETURN_IF_ERROR(hlo::text::ReadSharding(lexer, /*nesting_max=*/1, sharding));
  if (!lexer.AtEnd()) return lexer.Expected("the end of the sharding");
  if (sharding.type() == xla::OpSharding::TUPLE) {
    return InvalidArgument("The sharding %s is a tuple's; an array takes one.", text);
  }
  if (sharding.type() == xla::OpSharding::OTHER) RETURN_IF_ERROR(CheckTiles(sharding, rank, text));
  return sharding.SerializeAsString();
}

std::string ShardingToText(const std::string& serialized) {
  xla::OpSharding sharding;
  if (serialized.empty() || !sharding.ParseFromString(serialized)) return "";
  return hlo::text::ShardingText(sharding);
}

}  // namespace hlod::hlo
