// hloctl graphs --from-torch-xla: prints what PyTorch/XLA's own dumps say about a program's graphs.
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/analysis/torch_xla/torch_xla_report.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "client/report/graphs/or_null.h"
#include "common/base/errors/status.h"

namespace hlod::cli {
namespace {

namespace torch_xla = analysis::torch_xla;

using report::OrNull;

Json LineJson(const torch_xla::Frame& frame) {
  return {{"file", frame.at.file}, {"line", frame.at.line}, {"function", frame.function}};
}

Json CauseJson(const torch_xla::Cause& cause) {
  return {{"text", cause.text}, {"break", cause.is_break}, {"advice", cause.advice}};
}

Json GraphJson(const torch_xla::Graph& graph) {
  Json json = {{"hash", graph.hash},
               {"name", graph.name},
               {"made_by", graph.cause.is_dynamo ? "dynamo" : "lazy"},
               {"cause", CauseJson(graph.cause)},
               {"at", LineJson(graph.at)},
               {"nodes", OrNull(graph.nodes)},
               {"inputs", OrNull(graph.inputs)},
               {"outputs", OrNull(graph.outputs)},
               {"compiles", OrNull(graph.compiles)},
               {"executions", OrNull(graph.executions)}};
  if (graph.sizes.has_value()) {
    json["sizes"] = {{"input_bytes", graph.sizes->input_bytes},
                     {"output_bytes", graph.sizes->output_bytes},
                     {"alias_bytes", graph.sizes->alias_bytes},
                     {"temporary_bytes", graph.sizes->temporary_bytes},
                     {"program_bytes", graph.sizes->program_bytes}};
  }
  return json;
}

Json RecompileJson(const torch_xla::Recompile& recompile) {
  Json json = {{"at", LineJson(recompile.at)},
               {"name", recompile.name},
               {"from", recompile.from},
               {"to", recompile.to},
               {"difference", nullptr}};
  if (!recompile.difference.has_value()) return json;
  json["difference"] = Json::array();
  for (const auto& change : recompile.difference->changes)
    json["difference"].push_back({{"added", change.added}, {"line", change.line}});
  return json;
}

Json ReportJson(const torch_xla::Report& report) {
  Json graphs = Json::array(), places = Json::array(), recompiles = Json::array(), fallbacks = Json::array();
  for (const torch_xla::Graph& graph : report.graphs) graphs.push_back(GraphJson(graph));
  for (const torch_xla::GraphEnd& place : report.places) {
    places.push_back({{"at", LineJson(place.at)},
                      {"cause", CauseJson(place.cause)},
                      {"graphs", place.graphs},
                      {"compiles", OrNull(place.compiles)},
                      {"executions", OrNull(place.executions)}});
  }
  for (const torch_xla::Recompile& recompile : report.recompiles)
    recompiles.push_back(RecompileJson(recompile));
  for (const auto& [name, count] : report.fallbacks)
    fallbacks.push_back({{"operator", name}, {"calls", count}});
  const auto time = [](const std::optional<torch_xla::Total>& total) -> Json {
    if (!total.has_value()) return nullptr;
    return {{"count", total->calls}, {"seconds", total->sum}};
  };
  const auto transfer = [](const std::optional<torch_xla::Total>& bytes,
                           const std::optional<torch_xla::Total>& seconds) -> Json {
    if (!bytes.has_value() && !seconds.has_value()) return nullptr;
    return {{"calls", (bytes.has_value() ? bytes : seconds)->calls},
            {"bytes", bytes.has_value() ? Json(bytes->sum) : Json(nullptr)},
            {"seconds", seconds.has_value() ? Json(seconds->sum) : Json(nullptr)}};
  };
  return {{"graphs", std::move(graphs)},
          {"lazy_graphs", static_cast<int64_t>(report.graphs.size()) - report.dynamo_graphs()},
          {"dynamo_graphs", report.dynamo_graphs()},
          {"places", std::move(places)},
          {"recompiles", std::move(recompiles)},
          {"unexpected_executions", report.unexpected_executions},
          {"compile", time(report.compile)},
          {"execute", time(report.execute)},
          {"cache_hits", OrNull(report.cached)},
          {"cache_misses", OrNull(report.uncached)},
          {"syncs", OrNull(report.steps)},
          {"host_to_device", transfer(report.to_device_bytes, report.to_device_seconds)},
          {"device_to_host", transfer(report.from_device_bytes, report.from_device_seconds)},
          {"fallbacks", std::move(fallbacks)},
          {"advice", report.advice},
          {"problems", report.problems}};
}

// Returns the files that exist for the names that a user gave to PyTorch/XLA, which appends the ordinal of
// the process to that of XLA_SAVE_TENSORS_FILE: NAME itself, or NAME.0, NAME.1 and so on.
std::vector<std::string> FilesOf(const std::string& name) {
  const auto exists = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  if (exists(name)) return {name};
  std::vector<std::string> files;
  for (std::string path = name + ".0"; exists(path); path = absl::StrCat(name, ".", files.size()))
    files.push_back(path);
  return files;
}

}  // namespace

absl::Status TorchXlaGraphs(const CommonOptions& common, const std::vector<std::string>& dumps) {
  torch_xla::Dump dump;
  bool found = false;
  for (const std::string& name : dumps) {
    for (const std::string& path : FilesOf(name)) {
      RETURN_IF_ERROR(torch_xla::ReadDump(path, dump));
      found = true;
    }
  }
  if (!found) {
    return NotFound(
        "--from-torch-xla: there is none of the files %s, nor one with a process's ordinal (%s.0)",
        absl::StrJoin(dumps, ", "), dumps.front());
  }
  const torch_xla::Report report = torch_xla::ReportOf(std::move(dump));
  if (common.json) Show(Dump(ReportJson(report)) + "\n");
  else Show(torch_xla::ToText(report));
  return absl::OkStatus();
}

}  // namespace hlod::cli
