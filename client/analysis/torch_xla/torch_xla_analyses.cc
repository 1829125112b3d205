// Reads the blocks of PT_XLA_DEBUG_FILE. Each line of a block begins with its kind, such as "Compilation
// Analysis: "; the first and the last consist of '=' after that.
#include <utility>

#include "absl/strings/numbers.h"
#include "client/analysis/torch_xla/torch_xla_read.h"

namespace hlod::analysis::torch_xla {
namespace {

constexpr std::string_view kRule = "========", kPostCompilation = "Post Compilation Analysis: ";

struct Prefix {
  std::string_view text;
  Analysis::Kind kind;
};
constexpr Prefix kPrefixes[] = {{"Compilation Analysis: ", Analysis::Kind::kCompilation},
                                {"Execution Analysis: ", Analysis::Kind::kExecution},
                                {"Unexpected Execution Analysis: ", Analysis::Kind::kUnexpectedExecution}};

std::string_view PrefixOf(std::string_view line) {
  if (line.starts_with(kPostCompilation)) return kPostCompilation;
  for (const Prefix& prefix : kPrefixes) {
    if (line.starts_with(prefix.text)) return prefix.text;
  }
  return {};
}

struct Row {
  size_t number;
  std::string_view text;  // The text without the prefix.
};

// Returns the lines between the two lines of '='; nullopt when the second is missing.
std::optional<std::vector<Row>> TakeBlock(Lines& lines, std::string_view prefix) {
  std::vector<Row> rows;
  lines.Take();
  while (!lines.AtEnd() && lines.Peek().starts_with(prefix)) {
    const size_t number = lines.number();
    const std::string_view text = lines.Take().substr(prefix.size());
    if (text.starts_with(kRule)) return rows;
    rows.push_back({number, text});
  }
  return std::nullopt;
}

// Parses "1.548000 GB", which is in GiB. Returns 0 for "Unknown  GB", which is written by backends that do
// not know the size.
absl::StatusOr<double> ReadGib(const Lines& lines, const Row& row, std::string_view text) {
  double size = 0;
  if (text.starts_with("Unknown")) return 0;
  if (!absl::SimpleAtod(ToAbsl(text.substr(0, text.find(' '))), &size) || !(size >= 0))
    return lines.ErrorAt(row.number, "\"%s\" is not a size", text);
  return size * (1 << 30);
}

absl::Status AddSizes(const Lines& lines, const std::vector<Row>& rows, Dump& dump) {
  struct Key {
    std::string_view text;
    double Sizes::* field;
  };
  static constexpr Key kKeys[] = {{"Graph input size:", &Sizes::input_bytes},
                                  {"Graph output size:", &Sizes::output_bytes},
                                  {"Aliased Input size:", &Sizes::alias_bytes},
                                  {"Intermediate tensor size:", &Sizes::temporary_bytes},
                                  {"Compiled program size:", &Sizes::program_bytes}};
  Sizes sizes;
  for (const Row& row : rows) {
    for (const Key& key : kKeys) {
      const auto text = After(row.text, key.text);
      if (!text.has_value()) continue;
      ASSIGN_OR_RETURN(sizes.*(key.field), ReadGib(lines, row, *text));
    }
  }
  // The sizes come after the analysis of the same compilation.
  for (auto analysis = dump.analyses.rbegin(); analysis != dump.analyses.rend(); ++analysis) {
    if (analysis->kind != Analysis::Kind::kCompilation) continue;
    if (!analysis->sizes.has_value()) analysis->sizes = sizes;
    break;
  }
  return absl::OkStatus();
}

absl::StatusOr<Analysis> Parse(const Lines& lines, const std::vector<Row>& rows) {
  Analysis analysis;
  enum { kNone, kCause, kFrames } part = kNone;
  for (const Row& row : rows) {
    if (row.text.ends_with(" Cause")) {
      part = kCause;
    } else if (row.text.starts_with("Graph Info:")) {
      part = kNone;
    } else if (row.text.starts_with("Python Frame Triggered Execution:")) {
      part = kFrames;
    } else if (row.text.starts_with("----")) {
      break;
    } else if (part == kCause) {
      analysis.cause = After(row.text, "").value_or("");
    } else if (part == kFrames) {
      if (row.text.starts_with("  ....")) continue;  // Frames that PyTorch/XLA left out.
      ASSIGN_OR_RETURN(Frame frame, ReadFrame(lines, row.number, row.text));
      analysis.frames.push_back(std::move(frame));
    } else if (const auto name = After(row.text, "  Graph Name:"); name.has_value()) {
      analysis.name = *name;
    } else if (const auto hash = After(row.text, "  Graph Hash:"); hash.has_value()) {
      analysis.hash = *hash;
    } else if (const auto inputs = After(row.text, "  Number of Graph Inputs:"); inputs.has_value()) {
      ASSIGN_OR_RETURN(analysis.inputs, ReadCount(lines, row.number, "the number of inputs", *inputs));
    } else if (const auto outputs = After(row.text, "  Number of Graph Outputs:"); outputs.has_value()) {
      ASSIGN_OR_RETURN(analysis.outputs, ReadCount(lines, row.number, "the number of outputs", *outputs));
    }
  }
  return analysis;
}

}  // namespace

bool AtAnalysis(const Lines& lines) { return !PrefixOf(lines.Peek()).empty(); }

absl::Status ReadAnalysis(Lines& lines, Dump& dump) {
  const size_t begin = lines.number();
  const std::string_view prefix = PrefixOf(lines.Peek());
  const std::optional<std::vector<Row>> rows = TakeBlock(lines, prefix);
  if (!rows.has_value()) {
    dump.problems.push_back(lines.At(begin) + ": the analysis that begins here is cut off; it is left out");
    return absl::OkStatus();
  }
  if (prefix == kPostCompilation) return AddSizes(lines, *rows, dump);
  ASSIGN_OR_RETURN(Analysis analysis, Parse(lines, *rows));
  if (analysis.cause.empty() || analysis.hash.empty())
    return lines.ErrorAt(begin, "the analysis that begins here has no %s",
                         analysis.hash.empty() ? "hash" : "cause");
  for (const Prefix& known : kPrefixes) {
    if (known.text == prefix) analysis.kind = known.kind;
  }
  dump.analyses.push_back(std::move(analysis));
  return absl::OkStatus();
}

}  // namespace hlod::analysis::torch_xla
