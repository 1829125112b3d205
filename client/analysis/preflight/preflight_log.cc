// Reads a sequence of events, each after its length as a fixed32.
#include "client/analysis/preflight/preflight_log.h"

#include <string_view>

#include "common/base/errors/status.h"
#include "common/base/system/file.h"

namespace hlod::analysis {
namespace {

constexpr uint32_t kPreflightLogVersion = 1;

}  // namespace

absl::StatusOr<PreflightLog> ReadPreflightLog(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  PreflightLog record;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    uint32_t length = 0;
    for (size_t i = 0; i < 4 && i < rest.size(); ++i)
      length |= static_cast<uint32_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
    if (length > INT32_MAX) {
      return InvalidArgument("%s is not a preflight log: event %d has %d bytes; the maximum is %d.", path,
                             record.events.size(), length, INT32_MAX);
    }
    record.cut_off = rest.size() < 4 || rest.size() - 4 < length;
    if (record.cut_off) break;
    v1::PreflightEvent event;
    if (!event.ParseFromArray(rest.data() + 4, static_cast<int>(length)))
      return InvalidArgument("%s is not a preflight log: event %d cannot be read.", path,
                             record.events.size());
    if (record.events.empty() && event.begin().version() != kPreflightLogVersion) {
      return InvalidArgument("%s is not a preflight log of version %d: it begins with version %d.", path,
                             kPreflightLogVersion, event.begin().version());
    }
    record.events.push_back(std::move(event));
    rest.remove_prefix(4 + length);
  }
  if (record.events.empty()) return InvalidArgument("%s is not a preflight log: it is empty.", path);
  record.cut_off = record.cut_off || !record.events.back().has_end();
  return record;
}

}  // namespace hlod::analysis
