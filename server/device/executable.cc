// A compiled program, and what abstract executes ask of it.

#include "common/base/status.h"
#include "common/hlo/dependence.h"
#include "server/device/executable_cache.h"

namespace hlod::device {

Executable::Executable(const Digest& digest, std::unique_ptr<hlo::Module> module,
                       std::unique_ptr<engine::Plan> plan, int64_t program_bytes)
    : digest_(digest), module_(std::move(module)), plan_(std::move(plan)), program_bytes_(program_bytes) {}

std::string Executable::DescribeArgument(size_t leaf) const {
  const hlo::Computation& entry = module_->entry();
  size_t first = 0;
  for (size_t number = 0; number < entry.parameters().size(); ++number) {
    const hlo::Instruction parameter = entry[entry.parameters()[number]];
    const size_t leaves = parameter.shape().IsTuple() ? hlo::Leaves(parameter.shape()).size() : 1;
    if (leaf < first + leaves) {
      std::string text = absl::StrFormat("parameter %d \"%s\"", number, parameter.name());
      if (parameter.shape().IsTuple()) absl::StrAppend(&text, ", leaf ", leaf - first);
      return text;
    }
    first += leaves;
  }
  return absl::StrFormat("argument %d", leaf);
}

std::vector<bool> Executable::ComputableResults(const std::vector<bool>& absent) {
  MutexLock lock(&mu_);
  if (!dependences_.has_value()) dependences_ = hlo::OutputDependences(*module_);
  std::vector<bool> computable(dependences_->size(), true);
  for (size_t result = 0; result < computable.size(); ++result) {
    const std::vector<bool>& depends = (*dependences_)[result];
    for (size_t i = 0; i < depends.size() && i < absent.size(); ++i) {
      if (depends[i] && absent[i]) computable[result] = false;
    }
  }
  return computable;
}

absl::StatusOr<const engine::Plan*> Executable::PartialPlan(const std::vector<bool>& keep,
                                                            const engine::CompileOptions& options) {
  MutexLock lock(&mu_);
  std::unique_ptr<const engine::Plan>& plan = partial_[keep];
  if (plan == nullptr) {
    const std::unique_ptr<hlo::Module> part = hlo::KeepOutputs(*module_, keep);
    engine::CompileOptions part_options = options;
    part_options.verify = false;
    absl::StatusOr<std::unique_ptr<engine::Plan>> compiled = engine::Compile(*part, part_options);
    if (!compiled.ok()) {
      partial_.erase(keep);
      return compiled.status();
    }
    plan = *std::move(compiled);
  }
  return plan.get();
}

}  // namespace hlod::device
