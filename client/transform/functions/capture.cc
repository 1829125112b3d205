// Captured functions: reports how recorded graphs differ.
#include "hlod/transform/capture.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "client/tensor/function/function.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

std::string NameOf(const CaptureOptions& options) {
  return options.name.empty() ? "the function" : options.name;
}

size_t CommonPrefix(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// Returns the first instruction at which the new graph differs from all known ones, and the instructions that
// they have there, as an error text.
std::string Difference(const std::vector<std::vector<std::string>>& graphs,
                       const std::vector<std::string>& graph) {
  size_t at = 0;
  for (const auto& other : graphs) at = std::max(at, CommonPrefix(other, graph));
  std::set<std::string> expected;
  for (const auto& other : graphs) {
    if (CommonPrefix(other, graph) == at) expected.insert(at < other.size() ? other[at] : "the end");
  }
  std::string text =
      at < graph.size() ? absl::StrCat("Got: ", graph[at]) : std::string("Reached the end of the function");
  absl::StrAppend(&text, expected.size() == 1 ? ". Expected: " : ". Expected either of: ");
  bool first = true;
  for (const std::string& line : expected) {
    absl::StrAppend(&text, first ? "" : "; ", line);
    first = false;
  }
  return absl::StrCat(text, " (instruction ", at, ")");
}

}  // namespace

std::vector<std::string> InstructionsOf(const Traced& traced) {
  const hlo::Computation& computation = *traced.function().computation;
  std::vector<std::string> lines;
  for (NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    std::string line =
        absl::StrCat(ToAbsl(Name(instruction.opcode())), " ", hlo::ToStringNoLayout(instruction.shape()));
    const char* separator = " of ";
    for (const NodeId operand : instruction.operands())
      absl::StrAppend(&line, std::exchange(separator, ", "), operand);
    lines.push_back(std::move(line));
  }
  return lines;
}

void AddGraph(std::vector<std::vector<std::string>>& graphs, std::vector<std::string> graph,
              const CaptureOptions& options, const Caller& caller) {
  if (std::find(graphs.begin(), graphs.end(), graph) != graphs.end()) return;
  if (options.max_different_graphs > 0 &&
      graphs.size() >= static_cast<size_t>(options.max_different_graphs)) {
    Throw(
        ErrorKind::kArgument,
        absl::StrCat("Maximum number of different graphs allowed per function exceeded: ",
                     options.max_different_graphs, ", by ", NameOf(options), ". ", Difference(graphs, graph)),
        "compile", caller);
  }
  graphs.push_back(std::move(graph));
}

void ThrowBroken(const Error& error, const CaptureOptions& options, const Caller& caller) {
  Throw(error.kind() == ErrorKind::kNone ? ErrorKind::kArgument : error.kind(),
        absl::StrCat(NameOf(options), " is to be one graph (full_graph), and is not: ", error.what()),
        "compile", caller);
}

}  // namespace hlod::lazy
