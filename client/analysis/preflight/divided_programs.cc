// Reads the programs of the logs, and checks each that has a mesh.
#include "client/analysis/preflight/divided_programs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"

namespace hlod::analysis {
namespace {

struct Seen {
  std::string module, annotated, mesh;
  int64_t runs = 0, in_step = 0, most_in_step = 0;
};

// Reads "data=4,model=2".
absl::StatusOr<hlo::Mesh> ReadMesh(const std::string& text) {
  hlo::Mesh mesh;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::vector<std::string> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
    int64_t size = 0;
    if (sides.size() != 2 || !absl::SimpleAtoi(sides[1], &size) || size < 1)
      return InvalidArgument("The preflight log has the mesh (%s), which is none.", text);
    mesh.axes.emplace_back(sides[0], size);
  }
  return mesh;
}

void EndStep(std::map<std::string, Seen>& programs) {
  for (auto& [digest, program] : programs) {
    program.most_in_step = std::max(program.most_in_step, program.in_step);
    program.in_step = 0;
  }
}

std::map<std::string, Seen> SeenIn(const std::vector<PreflightLog>& sessions) {
  std::map<std::string, Seen> programs;
  for (const PreflightLog& session : sessions) {
    for (const v1::PreflightEvent& event : session.events) {
      if (event.has_program() && !event.program().module().empty()) {
        programs[event.program().digest()].module = event.program().module();
      } else if (event.has_divided()) {
        Seen& program = programs[event.divided().digest()];
        program.mesh = event.divided().mesh();
        program.annotated = event.divided().annotated();
      } else if (event.has_execute()) {
        ++programs[event.execute().digest()].runs;
        ++programs[event.execute().digest()].in_step;
      } else if (event.has_step()) {
        EndStep(programs);
      }
    }
    EndStep(programs);
  }
  return programs;
}

}  // namespace

absl::StatusOr<std::vector<DividedProgram>> DividedProgramsOf(const std::vector<PreflightLog>& sessions,
                                                              const std::optional<Target>& target) {
  std::vector<DividedProgram> programs;
  for (const auto& [digest, seen] : SeenIn(sessions)) {
    if (seen.mesh.empty() || seen.module.empty()) continue;
    ASSIGN_OR_RETURN(const hlo::Mesh mesh, ReadMesh(seen.mesh));
    ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> module, hlo::FromSerialized(seen.module));
    RETURN_IF_ERROR(hlo::Verify(*module));
    std::unique_ptr<hlo::Module> annotated;
    if (!seen.annotated.empty()) {
      ASSIGN_OR_RETURN(annotated, hlo::FromSerialized(seen.annotated));
    }
    DividedProgram& program =
        programs.emplace_back(DividedProgram{.runs = seen.runs, .runs_per_step = seen.most_in_step});
    ASSIGN_OR_RETURN(program.report, CheckMesh(*module, annotated.get(), mesh, target, {}));
  }
  const auto cost = [](const DividedProgram& program) {
    double bytes = 0;
    for (const CollectiveUse& use : program.report.collectives) bytes += use.times * use.bytes();
    const auto runs = static_cast<double>(program.runs);
    return std::pair(program.report.network_use.seconds * runs, bytes * runs);
  };
  std::ranges::stable_sort(programs, std::greater<>(), cost);
  return programs;
}

std::optional<NetworkTotals> NetworkOfStep(const std::vector<DividedProgram>& programs) {
  NetworkTotals totals;
  bool is_known = false;
  for (const DividedProgram& program : programs) {
    const auto runs = static_cast<double>(program.runs_per_step);
    is_known = is_known || program.report.network.has_value();
    totals.bytes += runs * program.report.network_use.bytes;
    totals.seconds += runs * program.report.network_use.seconds;
  }
  return is_known ? std::optional(totals) : std::nullopt;
}

}  // namespace hlod::analysis
