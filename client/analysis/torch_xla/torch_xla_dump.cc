// Finds the part of a dump that begins at a line, and has the functions that the parts' readers share.
#include "client/analysis/torch_xla/torch_xla_dump.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "client/analysis/torch_xla/torch_xla_read.h"
#include "common/base/system/file.h"
#include "common/base/text/utf8.h"

namespace hlod::analysis::torch_xla {
namespace {

std::string_view Trimmed(std::string_view text) { return FromAbsl(absl::StripAsciiWhitespace(ToAbsl(text))); }

absl::Status Foreign(const Lines& lines, std::string_view first) {
  std::string shown(first.substr(0, 60));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return lines.ErrorAt(1,
                       "this is not a dump of PyTorch/XLA (it begins \"%s\"): expected is what "
                       "XLA_SAVE_TENSORS_FILE, PT_XLA_DEBUG_FILE or XLA_METRICS_FILE writes",
                       shown);
}

}  // namespace

std::optional<std::string_view> After(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return Trimmed(line.substr(key.size()));
}

absl::StatusOr<int64_t> ReadCount(const Lines& lines, size_t number, std::string_view what,
                                  std::string_view text) {
  int64_t count = 0;
  if (absl::SimpleAtoi(ToAbsl(Trimmed(text)), &count) && count >= 0) return count;
  return lines.ErrorAt(number, "%s is \"%s\", which is not a count", what, text);
}

absl::StatusOr<Frame> ReadFrame(const Lines& lines, size_t number, std::string_view text) {
  const std::string_view frame = Trimmed(text);
  const size_t open = frame.find(" ("), colon = frame.rfind(':');
  int line = 0;
  if (open != frame.npos && colon != frame.npos && colon > open && frame.ends_with(')') &&
      absl::SimpleAtoi(ToAbsl(frame.substr(colon + 1, frame.size() - colon - 2)), &line)) {
    return Frame{std::string(frame.substr(0, open)),
                 {std::string(frame.substr(open + 2, colon - open - 2)), line}};
  }
  return lines.ErrorAt(number, "\"%s\" is not a frame: expected is FUNCTION (FILE:LINE)", frame);
}

absl::Status ReadDump(const std::string& path, Dump& dump) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Lines lines(path, text);
  if (Trimmed(text).empty()) return InvalidArgument("%s: the file is empty", path);
  const std::string_view first = lines.Peek();
  const size_t problems = dump.problems.size();
  Metrics metrics;
  bool found = false;
  while (!lines.AtEnd()) {
    const std::optional<std::string_view> advice = After(lines.Peek(), "pt-xla-profiler:");
    if (AtTrace(lines)) RETURN_IF_ERROR(ReadTrace(lines, dump));
    else if (AtAnalysis(lines)) RETURN_IF_ERROR(ReadAnalysis(lines, dump));
    else if (AtMetric(lines)) RETURN_IF_ERROR(ReadMetric(lines, metrics, dump));
    else if (advice.has_value()) dump.advice.emplace_back((lines.Take(), *advice));
    else {
      lines.Take();  // Another line of stderr.
      continue;
    }
    found = true;
  }
  if (!found && dump.problems.size() == problems) return Foreign(lines, first);
  if (!metrics.metrics.empty() || !metrics.counters.empty()) dump.metrics.push_back(std::move(metrics));
  return absl::OkStatus();
}

}  // namespace hlod::analysis::torch_xla
