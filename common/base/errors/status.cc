// Adds context lines to errors without losing their payloads.
#include "common/base/errors/status.h"

#include "absl/strings/cord.h"

namespace hlod {

absl::Status Annotate(absl::Status status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(status.message(), "\n - While ", ToAbsl(context)));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { annotated.SetPayload(url, payload); });
  return annotated;
}

}  // namespace hlod
