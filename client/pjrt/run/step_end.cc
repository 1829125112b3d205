// Follows arrays from program to program.
#include "client/pjrt/run/step_end.h"

#include <algorithm>

namespace hlod::pjrt {

StepEnd::Program& StepEnd::Find(const std::string& name) {
  const auto [found, is_new] = programs_.try_emplace(name);
  if (is_new) found->second.id = static_cast<int>(programs_.size());
  return found->second;
}

bool StepEnd::ComputesMost(const Program& program) const {
  return program.flops > 0 && std::all_of(programs_.begin(), programs_.end(), [&](const auto& other) {
           return other.second.flops <= program.flops;
         });
}

bool StepEnd::GoesOn(const Program& program, absl::Span<const Array> arguments) const {
  bool took_before = false, is_uploaded = false;
  for (const Array& array : arguments) {
    if (array.handle == 0 || !array.shape->IsArray()) continue;
    const auto makers = makers_.find(array.handle);
    if (makers != makers_.end()) {
      if (hlo::IsFloat(array.shape->type) && makers->second->contains(program.id)) return true;
    } else if (!array.shape->dims.empty() && array.handle > program.newest) {
      is_uploaded = true;
    }
    const auto& last = program.arguments;
    if (!array.shape->dims.empty() && std::find(last.begin(), last.end(), array.handle) != last.end())
      took_before = true;
  }
  return took_before && is_uploaded;
}

bool StepEnd::IsBefore(const std::string& name, absl::Span<const Array> arguments) {
  absl::MutexLock lock(&mu_);
  const Program& program = Find(name);
  return program.runs >= steps_ && ComputesMost(program) && GoesOn(program, arguments);
}

void StepEnd::Ran(const std::string& name, double flops, absl::Span<const Array> arguments,
                  absl::Span<const Array> results) {
  absl::MutexLock lock(&mu_);
  Program& program = Find(name);
  ++program.runs;
  program.flops += flops;
  program.arguments.clear();
  auto makers = std::make_shared<std::set<int>>(std::set<int>{program.id});
  for (const Array& array : arguments) {
    program.arguments.push_back(array.handle);
    newest_ = std::max(newest_, array.handle);
    const auto found = makers_.find(array.handle);
    if (found != makers_.end()) makers->insert(found->second->begin(), found->second->end());
  }
  for (const Array& array : results) {
    newest_ = std::max(newest_, array.handle);
    makers_[array.handle] = makers;
  }
  program.newest = newest_;
}

}  // namespace hlod::pjrt
