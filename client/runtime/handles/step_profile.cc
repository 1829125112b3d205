// Profiles of runs, from the daemon's message.
#include "hlod/runtime/step_profile.h"

#include <algorithm>
#include <cmath>

#include "client/runtime/handles/step_profile_proto.h"

namespace hlod {
namespace {

// Returns the rate of a copy of `bytes`, between the measured sizes on a logarithmic scale.
double CopyRate(double bytes, const MachineSpeed& machine) {
  const std::vector<MachineSpeed::Copy>& copies = machine.copies;
  const auto above = std::find_if(copies.begin(), copies.end(), [&](const MachineSpeed::Copy& copy) {
    return static_cast<double>(copy.bytes) >= bytes;
  });
  if (above == copies.begin()) return above->bytes_per_second;
  if (above == copies.end()) return copies.back().bytes_per_second;
  const MachineSpeed::Copy& below = *(above - 1);
  const double part = std::log(bytes / static_cast<double>(below.bytes)) /
                      std::log(static_cast<double>(above->bytes) / static_cast<double>(below.bytes));
  return below.bytes_per_second * std::pow(above->bytes_per_second / below.bytes_per_second, part);
}

}  // namespace

double LeastSeconds(const StepProfile& step, const MachineSpeed& machine) {
  double seconds = 0;
  if (machine.f32_flops > 0) seconds = step.flops * (step.type == "f64" ? 2 : 1) / machine.f32_flops;
  if (!machine.copies.empty() && step.bytes > 0)
    seconds = std::max(seconds, step.bytes / CopyRate(step.bytes, machine));
  return seconds;
}

namespace runtime {

ExecuteProfile FromProto(const v1::ExecuteProfile& proto) {
  ExecuteProfile profile;
  for (const v1::StepProfile& row : proto.steps()) {
    profile.steps.push_back({.index = row.index(),
                             .kind = row.kind(),
                             .text = row.text(),
                             .type = row.type(),
                             .lines = {row.lines().begin(), row.lines().end()},
                             .runs = row.runs(),
                             .ns = row.ns(),
                             .bytes = row.bytes(),
                             .flops = row.flops()});
  }
  profile.other_steps = proto.other_steps();
  profile.other_ns = proto.other_ns();
  profile.run_ns = proto.run_ns();
  if (!proto.has_machine()) return profile;
  MachineSpeed& machine = profile.machine.emplace();
  machine.threads = proto.machine().threads();
  machine.cpu_level = proto.machine().cpu_level();
  machine.f32_flops = proto.machine().f32_flops();
  for (const v1::CopySpeed& copy : proto.machine().copies())
    machine.copies.push_back({copy.bytes(), copy.bytes_per_second()});
  return profile;
}

}  // namespace runtime
}  // namespace hlod
