// Errors of the command line. A payload distinguishes them from the daemon's, which may have the same code.
#include "absl/strings/cord.h"
#include "client/cli/commands.h"
#include "common/base/text/strings.h"

namespace hlod::cli {
namespace {

constexpr char kUsageUrl[] = "hloctl.usage";

}  // namespace

absl::Status UsageError(std::string_view text) {
  absl::Status status = absl::InvalidArgumentError(ToAbsl(text));
  status.SetPayload(kUsageUrl, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) { return status.GetPayload(kUsageUrl).has_value(); }

}  // namespace hlod::cli
