// Writes analyses of graphs as text, from events.
#include "hlod/observe/debug_analysis.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/debug_analysis.h"
#include "common/base/errors/status.h"
#include "common/base/system/switch.h"
#include "common/base/text/strings.h"
#include "hlod/tensor/trace.h"

namespace hlod {
namespace {

absl::string_view MeaningOf(TraceCause cause) {
  switch (cause) {
#define HLOD_TRACE_CAUSE(id, text, meaning) \
  case TraceCause::id: return meaning;
#include "hlod/observe/trace_causes.inc"
#undef HLOD_TRACE_CAUSE
  }
  return "invalid";
}

// Returns the analysis of one close. `reason` says why it was compiled; null if it was not.
std::string TextOf(const CloseEvent& close, const std::string* reason) {
  std::vector<std::string> lines = {
      std::string(80, '='),
      reason != nullptr ? "Compilation Cause" : "Execution Cause",
      absl::StrCat("  ", ToAbsl(Name(close.cause)), ": ", MeaningOf(close.cause)),
      "Graph Info:",
      absl::StrCat("  Graph Name: ", close.name),
      absl::StrCat("  Graph Hash: ", close.program),
      absl::StrCat("  Number of Graph Inputs: ", close.inputs.size()),
      absl::StrCat("  Number of Graph Outputs: ", close.outputs.size()),
  };
  if (reason != nullptr) {
    lines.push_back("Recompile Reason");
    lines.push_back(absl::StrCat("  ", *reason));
  }
  lines.push_back("Source Line Triggered Execution:");
  lines.push_back(absl::StrCat("  ", close.operation, " (", ToString(close.origin), ")"));
  lines.push_back(lines.front());
  const absl::string_view prefix = reason != nullptr ? "Compilation Analysis: " : "Execution Analysis: ";
  std::string text = "\n";
  for (const std::string& line : lines) absl::StrAppend(&text, prefix, line, "\n");
  return text;
}

}  // namespace

DebugAnalysis::DebugAnalysis(Level level, std::function<void(std::string_view)> write)
    : level_(level), write_(std::move(write)) {}

void DebugAnalysis::OnEvent(const Event& event) {
  if (level_ < kCompilations) return;
  if (const auto* compile = std::get_if<CompileEvent>(&event.what)) reasons_[compile->program] = compile->why;
  const auto* const close = std::get_if<CloseEvent>(&event.what);
  if (close == nullptr || !close->status.ok()) return;
  if (close->found == ProgramSource::kCompiled) {
    write_(TextOf(*close, &reasons_[close->program]));
    reasons_.erase(close->program);
  }
  if (level_ >= kExecutions) write_(TextOf(*close, nullptr));
}

namespace runtime {
namespace {

absl::StatusOr<DebugAnalysis::Level> LevelOfEnvironment() {
  const char* const value = std::getenv("HLOD_DEBUG");
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty() || text == "0") return DebugAnalysis::kNothing;
  if (text == "1") return DebugAnalysis::kCompilations;
  if (text == "2") return DebugAnalysis::kExecutions;
  return InvalidArgument("$HLOD_DEBUG is \"%s\"; 0, 1 (compilations) or 2 (executions, too) is needed.",
                         text);
}

struct Closed {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// The analysis of the whole program. It is destroyed before the objects that its events need.
struct AnalysisOfProgram {
  AnalysisOfProgram() {
    const absl::StatusOr<DebugAnalysis::Level> level = LevelOfEnvironment();
    status = level.status();
    if (!level.ok() || *level == DebugAnalysis::kNothing) return;
    const char* const path = std::getenv("HLOD_DEBUG_FILE");
    if (path != nullptr && *path != '\0') {
      file.reset(std::fopen(path, "ae"));
      if (file == nullptr) {
        status = InvalidArgument("$HLOD_DEBUG_FILE: %s cannot be written: %s.", path, std::strerror(errno));
        return;
      }
    }
    std::FILE* const to = file != nullptr ? file.get() : stderr;
    analysis.emplace(*level, [to](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), to);
      std::fflush(to);
    });
    observation.emplace(*analysis);
  }
  absl::Status status;
  std::unique_ptr<std::FILE, Closed> file;
  std::optional<DebugAnalysis> analysis;
  std::optional<Observation> observation;
};

}  // namespace

absl::Status BeginDebugAnalysis() {
  static const AnalysisOfProgram analysis;
  return analysis.status;
}

bool WarningsAreOn() {
  static const bool on = ReadSwitch("HLOD_WARNINGS", true).value_or(true);
  return on;
}

}  // namespace runtime
}  // namespace hlod
