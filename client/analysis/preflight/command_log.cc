// Parses entries and checks their order.
#include "client/analysis/preflight/command_log.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"
#include "common/base/system/file.h"
#include "common/base/text/strings.h"

namespace hlod::analysis {
namespace {

constexpr std::string_view kName = "hlod command log ";
constexpr int kCommandLogVersion = 1;

// Checks the first line, which has the version, and returns the position after it.
absl::StatusOr<size_t> ReadFirstLine(std::string_view bytes, std::string_view name) {
  const std::string_view start = bytes.substr(0, kName.size());
  if (start != kName.substr(0, start.size())) return InvalidArgument("%s is not a command log.", name);
  const size_t end = bytes.substr(0, 64).find('\n');
  if (bytes.empty() || end == bytes.npos) return InvalidArgument("%s is cut in its first line.", name);
  int version = 0;
  if (!absl::SimpleAtoi(ToAbsl(bytes.substr(kName.size(), end - kName.size())), &version))
    return InvalidArgument("%s is not a command log.", name);
  if (version != kCommandLogVersion) {
    return InvalidArgument("%s is a command log of version %d; this program reads version %d.", name, version,
                           kCommandLogVersion);
  }
  return end + 1;
}

}  // namespace

absl::StatusOr<CommandLog> ParseCommandLog(std::string_view bytes, std::string_view name,
                                           bool allow_incomplete) {
  ASSIGN_OR_RETURN(size_t at, ReadFirstLine(bytes, name));
  CommandLog log;
  bool has_header = false, ended = false;
  uint64_t last = 0;
  while (at < bytes.size()) {
    const auto damaged = [&](std::string_view why) {
      return InvalidArgument("%s is damaged at byte %d, in entry %d: %s.", name, at,
                             log.entries.size() + has_header, why);
    };
    const std::string_view rest = bytes.substr(at);
    google::protobuf::io::CodedInputStream coded(reinterpret_cast<const uint8_t*>(rest.data()),
                                                 static_cast<int>(std::min<size_t>(rest.size(), 10)));
    uint64_t size = 0;
    const bool sized = coded.ReadVarint64(&size);
    if (!sized && rest.size() >= 10) return damaged("its size is not a number");
    if (size > INT32_MAX)
      return damaged(absl::StrFormat("its size is %d; an entry has at most %d bytes", size, INT32_MAX));
    const size_t begin = static_cast<size_t>(coded.CurrentPosition());
    if (!sized || size > rest.size() - begin) {
      if (allow_incomplete) break;
      return InvalidArgument(
          "%s ends in the middle of entry %d, at byte %d: it was cut. What is there can be replayed with "
          "--incomplete.",
          name, log.entries.size() + has_header, bytes.size());
    }
    v1::CommandLogEntry entry;
    if (!entry.ParseFromArray(rest.data() + begin, static_cast<int>(size)))
      return damaged("it is not an entry");
    if (ended) return damaged("something follows the end");
    if (entry.has_header() == has_header) return damaged("a header is the first entry, and only the first");
    if (entry.has_header()) {
      log.header = entry.header();
      has_header = true;
    } else if (entry.has_end()) {
      if (entry.end().commands() != static_cast<int64_t>(log.entries.size()))
        return damaged(absl::StrFormat("%d commands were recorded", entry.end().commands()));
      ended = true;
    } else {
      if (!entry.has_command()) return damaged("it has no command");
      if (entry.command().id() <= last) return damaged("its command is not after the one before");
      last = entry.command().id();
      log.entries.push_back(std::move(entry));
    }
    at += begin + size;
  }
  if (!has_header) {
    return InvalidArgument("%s is cut: it has no header, without which none of it can be replayed.", name);
  }
  if (!ended && !allow_incomplete) {
    return InvalidArgument(
        "%s has no end after %d commands: the program or its session ended abnormally, or the file was cut. "
        "What is there can be replayed with --incomplete.",
        name, log.entries.size());
  }
  log.complete = ended;
  return log;
}

absl::StatusOr<CommandLog> ReadCommandLog(const std::string& path, bool allow_incomplete) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return ParseCommandLog(bytes, path, allow_incomplete);
}

std::map<std::string, std::string> ProgramsOf(const CommandLog& log) {
  std::map<std::string, std::string> programs;
  std::string chunks;
  uint64_t missing = 0;
  for (const v1::CommandLogEntry& entry : log.entries) {
    const v1::Command& command = entry.command();
    if (command.has_compile()) {
      missing = command.compile().module_bytes();
      chunks.clear();
      if (const std::string& module = command.compile().module(); !module.empty())
        programs.emplace(ToHex(Sha256(module)), module);
    } else if (command.has_program_chunk() && missing > 0) {
      const std::string& data = command.program_chunk().data();
      chunks += data;
      missing -= std::min<uint64_t>(missing, data.size());
      if (missing == 0) programs.emplace(ToHex(Sha256(chunks)), chunks);
    }
  }
  return programs;
}

}  // namespace hlod::analysis
