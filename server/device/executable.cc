// A compiled program, and what abstract executes ask of it.
#include <algorithm>
#include <iterator>

#include "common/base/status.h"
#include "common/base/utf8.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/flat_signature.h"
#include "server/device/executable_cache.h"

namespace hlod::device {
namespace {

constexpr size_t kNameMax = 256;  // Bytes of a name that messages and listings repeat.

}  // namespace

Executable::Executable(const Digest& digest, std::unique_ptr<hlo::Module> module,
                       std::unique_ptr<engine::Plan> plan, int64_t program_bytes)
    : digest_(digest),
      module_(std::move(module)),
      plan_(std::move(plan)),
      program_bytes_(program_bytes),
      name_(ClipUtf8(module_->name(), kNameMax)) {}

double Executable::ExpectedRunUs() const {
  const int64_t recent_us = recent_us_.load(std::memory_order_relaxed);
  const bool estimated = plan_->stats().reference_steps == 0;
  if (recent_us < 0) return estimated ? std::max(plan_->estimate_us(), kShortRunUs) : kUnknownRunUs;
  return std::max({plan_->estimate_us(), static_cast<double>(recent_us), estimated ? 0 : kShortRunUs});
}

void Executable::CountRun(int64_t us) {
  ++executes;
  execute_us += us;
  const int64_t recent_us = recent_us_.load(std::memory_order_relaxed);
  recent_us_.store(recent_us < 0 ? us : (3 * recent_us + us) / 4, std::memory_order_relaxed);
}

std::string Executable::DescribeArgument(size_t leaf) const {
  const hlo::Computation& entry = module_->entry();
  const hlo::FlatSignature signature(entry);
  if (leaf >= signature.arguments.size()) return absl::StrFormat("argument %d", leaf);
  const hlo::FlatSignature::Leaf& argument = signature.arguments[leaf];
  const std::string name = entry[entry.parameters()[argument.parameter]].name();
  std::string text =
      absl::StrFormat("parameter %d \"%s\"", argument.parameter, ToAbsl(ClipUtf8(name, kNameMax)));
  if (!argument.index.empty()) absl::StrAppend(&text, ", leaf ", argument.number);
  return text;
}

std::vector<bool> Executable::ComputableResults(const std::vector<bool>& absent) {
  MutexLock lock(&mu_);
  if (!dependences_.has_value()) dependences_.emplace(*module_);
  return dependences_->Computable(absent);
}

absl::StatusOr<std::shared_ptr<const engine::Plan>> Executable::PartialPlan(
    const std::vector<bool>& keep, const engine::CompileOptions& options) {
  {
    MutexLock lock(&mu_);
    for (auto it = partial_.begin(); it != partial_.end(); ++it) {
      if (it->keep != keep) continue;
      partial_.splice(partial_.begin(), partial_, it);
      return it->plan;
    }
  }
  // Without the lock: others use their plans meanwhile. Two that want the same one compile it twice.
  const std::unique_ptr<hlo::Module> part = hlo::KeepOutputs(*module_, keep);
  engine::CompileOptions part_options = options;
  part_options.verify = false;
  ASSIGN_OR_RETURN(std::shared_ptr<const engine::Plan> plan, engine::Compile(*part, part_options));
  std::list<Partial> gone;  // Goes after the lock.
  MutexLock lock(&mu_);
  partial_.push_front({keep, plan});
  if (partial_.size() > kPartialMax) gone.splice(gone.begin(), partial_, std::prev(partial_.end()));
  return plan;
}

}  // namespace hlod::device
