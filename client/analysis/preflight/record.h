// Records of abstract sessions, read back (proto/hlod/v1/record.proto).
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlod/v1/record.pb.h"

namespace hlod::analysis {

struct Record {
  std::vector<v1::RecordEvent> events;  // The first is `begin`.
  bool cut_off = false;                 // The file ends within an event, or there is no `end`.
};

// INVALID_ARGUMENT naming the file when it is not a record, or one of another version.
absl::StatusOr<Record> ReadRecord(const std::string& path);

}  // namespace hlod::analysis
