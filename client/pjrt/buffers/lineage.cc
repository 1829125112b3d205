// Follows placeholders back: from execution to execution, and from operation to operation within a program.
#include "client/pjrt/buffers/lineage.h"

#include <algorithm>
#include <deque>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/module/source_lines.h"
#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/programs/program.h"
#include "client/runtime/session/state.h"

namespace hlod::pjrt {
namespace {

constexpr size_t kStepsMax = 6;
constexpr size_t kOperationsShown = 10;

// Returns the nodes from a result back to a parameter by the shortest path; empty when there is none.
std::vector<hlo::NodeId> WayBack(const hlo::Computation& entry, hlo::NodeId result, hlo::NodeId parameter) {
  std::vector<hlo::NodeId> user(entry.size(), hlo::Computation::kNoNode);
  std::deque<hlo::NodeId> open = {result};
  user[result] = result;
  while (!open.empty() && user[parameter] == hlo::Computation::kNoNode) {
    const hlo::NodeId node = open.front();
    open.pop_front();
    for (const hlo::NodeId operand : entry[node].operands()) {
      if (user[operand] != hlo::Computation::kNoNode) continue;
      user[operand] = node;
      open.push_back(operand);
    }
  }
  std::vector<hlo::NodeId> way;
  if (user[parameter] == hlo::Computation::kNoNode) return way;
  for (hlo::NodeId node = parameter; node != result; node = user[node]) way.push_back(node);
  way.push_back(result);
  std::reverse(way.begin(), way.end());
  return way;
}

// Returns "reduce_sum (model.py:12)": the last part of a framework's name for the operation, and its line.
std::string OperationText(const hlo::Computation& entry, const analysis::SourceLines& lines,
                          hlo::NodeId node) {
  const hlo::Notes* const notes = entry.notes(node);
  std::string name(hlo::Name(entry[node].opcode()));
  std::string line;
  if (notes != nullptr) {
    const std::string& path = notes->metadata.op_name;
    if (!path.empty()) name = path.substr(path.rfind('/') + 1);
    line = analysis::ShortText(lines.Of(*notes));
  }
  return line.empty() ? name : absl::StrCat(name, " (", line, ")");
}

std::string ParameterName(const CompiledProgram& program, size_t argument) {
  const hlo::Computation& entry = program.module().entry();
  if (argument >= entry.parameters().size()) return "";
  const hlo::Notes* const notes = entry.notes(entry.parameters()[argument]);
  return notes == nullptr || notes->metadata.op_name.empty()
             ? ""
             : absl::StrCat(" (", notes->metadata.op_name, ")");
}

// Returns the operations from the result back to the argument: "div (train.py:6) <- sub (train.py:5)".
std::string OperationsText(const LineageStep& step) {
  const hlo::Computation& entry = step.program->module().entry();
  hlo::NodeId result = entry.root_id();
  if (entry.root().opcode() == hlo::kTuple && step.result < entry.root().operand_count())
    result = entry.root().operands()[step.result];
  const analysis::SourceLines lines(step.program->module());
  std::vector<hlo::NodeId> way = {result};
  if (step.argument < entry.parameters().size())
    way = WayBack(entry, result, entry.parameters()[step.argument]);
  if (!way.empty() && entry[way.back()].opcode() == hlo::kParameter) way.pop_back();
  std::vector<std::string> operations;
  for (const hlo::NodeId node : way) {
    std::string operation = OperationText(entry, lines, node);
    if (operations.empty() || operations.back() != operation) operations.push_back(std::move(operation));
  }
  std::string text;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (i == kOperationsShown / 2 && operations.size() > kOperationsShown) {
      const size_t left_out = operations.size() - kOperationsShown;
      absl::StrAppend(&text, " <- ... (", left_out, " more)");
      i += left_out;
    }
    absl::StrAppend(&text, text.empty() ? "" : " <- ", operations[i]);
  }
  return text;
}

}  // namespace

std::vector<std::shared_ptr<const Lineage>> LineagesOf(const std::shared_ptr<const CompiledProgram>& program,
                                                       absl::Span<Buffer* const> arguments,
                                                       absl::Span<const hlod::Buffer> results,
                                                       const Caller& line) {
  std::vector<std::shared_ptr<const Lineage>> lineages(results.size());
  std::vector<bool> absent;
  for (const Buffer* const argument : arguments) {
    const absl::StatusOr<hlod::Buffer> value = argument->value();
    absent.push_back(value.ok() && value->is_placeholder());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].is_placeholder()) continue;
    LineageStep step = {program, i, line};
    const std::vector<bool> depends = program->dependences().Of(i);
    for (size_t a = 0; a < absent.size() && a < depends.size() && step.argument == LineageStep::kNone; ++a) {
      if (absent[a] && depends[a]) step.argument = a;
    }
    auto lineage = std::make_shared<Lineage>();
    lineage->push_back(step);
    if (step.argument != LineageStep::kNone) {
      const Buffer& argument = *arguments[step.argument];
      const absl::StatusOr<hlod::Buffer> value = argument.value();
      lineage->front().argument_text = absl::StrCat(hlo::ToStringNoLayout(argument.shape()), ", made at ",
                                                    value.ok() ? hlod::ToString(value->origin()) : "");
      if (argument.lineage() != nullptr) {
        const size_t more = std::min(argument.lineage()->size(), kStepsMax - 1);
        lineage->insert(lineage->end(), argument.lineage()->begin(),
                        argument.lineage()->begin() + static_cast<ptrdiff_t>(more));
      }
    }
    lineages[i] = std::move(lineage);
  }
  return lineages;
}

std::string ToString(const Lineage& lineage) {
  std::string text;
  for (const LineageStep& step : lineage) {
    absl::StrAppendFormat(&text, "\n  result %d of %s, run at %s: %s", step.result,
                          step.program->module().name(), hlod::ToString(runtime::OriginOf(step.line)),
                          OperationsText(step));
    if (step.argument == LineageStep::kNone) {
      absl::StrAppend(&text, "; it is large, so it was not computed");
    } else {
      absl::StrAppend(&text, " <- argument ", step.argument, ParameterName(*step.program, step.argument),
                      ", ", step.argument_text);
    }
  }
  return text;
}

}  // namespace hlod::pjrt
