// A command log of a session, read from its file (proto/hlod/v1/command_log.proto).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlod/v1/command_log.pb.h"

namespace hlod::analysis {

struct CommandLog {
  v1::CommandLogHeader header;
  std::vector<v1::CommandLogEntry> entries;  // The commands, in order.
  bool complete = true;                      // True when the log has its end.
};

// Reads a file. With `allow_incomplete`, a file that ends early is read up to its end. INVALID_ARGUMENT names
// the file and the reason: it is not a command log, has another version, is damaged at a byte, or was
// truncated.
absl::StatusOr<CommandLog> ReadCommandLog(const std::string& path, bool allow_incomplete = false);
// Parses a file's bytes; `name` names the file in errors.
absl::StatusOr<CommandLog> ParseCommandLog(std::string_view bytes, std::string_view name,
                                           bool allow_incomplete = false);

// Returns the programs of a command log, by the SHA-256 of their bytes in hexadecimal: serialized modules,
// put together from their chunks.
std::map<std::string, std::string> ProgramsOf(const CommandLog& log);

}  // namespace hlod::analysis
