// A compiled program, and the plans that abstract executes derive from it.
#include <algorithm>
#include <iterator>

#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/flat_signature.h"
#include "common/hlo/proto/codec.h"
#include "server/device/programs/executable_cache.h"
#include "server/engine/plan/compile_memory.h"

namespace hlod::device {
namespace {

constexpr size_t kNameMax = 256;  // The length beyond which names are truncated in messages and listings.

// Returns an estimate of the memory of a plan besides its constants, with the most machine code that may be
// made for it. A program of five instructions holds 20 to 25 KB: its tables, names, and its places in caches.
int64_t PlanBytes(const engine::Plan& plan) {
  constexpr int64_t kProgramBytes = 16 << 10, kInstructionBytes = 256, kStepBytes = 1024;
  const engine::PlanStats& stats = plan.stats();
  return kProgramBytes + kInstructionBytes * stats.instructions + kStepBytes * stats.steps +
         engine::kLibraryStepBytes * stats.library_steps + plan.code_bytes_max();
}

// Returns the bytes of the constants in memory, or the bytes on the wire (which also have names and lines)
// when these are more, plus an estimate for instructions and steps.
int64_t HeldBytes(const hlo::Module& module, const engine::Plan& plan, int64_t program_bytes) {
  return std::max(engine::ConstantBytes(module), program_bytes) + PlanBytes(plan);
}

}  // namespace

Executable::Executable(const Digest& digest, std::unique_ptr<const hlo::Module> module,
                       std::unique_ptr<engine::Plan> plan, int64_t program_bytes)
    : digest_(digest),
      signature_(std::move(module)),
      plan_(std::move(plan)),
      program_bytes_(program_bytes),
      held_bytes_(HeldBytes(*signature_, *plan_, program_bytes)),
      name_(ClipUtf8(signature_->name(), kNameMax)),
      module_(signature_) {}

Executable::Executable(const Digest& digest, std::string name, std::string bytes,
                       std::shared_ptr<const hlo::Module> optimised, std::unique_ptr<engine::Plan> plan,
                       int64_t program_bytes)
    : digest_(digest),
      signature_(std::move(optimised)),
      plan_(std::move(plan)),
      program_bytes_(program_bytes),
      held_bytes_(HeldBytes(*signature_, *plan_, program_bytes)),
      name_(ClipUtf8(name, kNameMax)),
      bytes_(std::move(bytes)) {}

double Executable::ExpectedRunUs() const {
  if (plan_->stats().transfers) return kUnknownRunUs;  // The program may wait for its client.
  const int64_t recent_us = runs_.typical_us();
  const bool estimated = plan_->stats().reference_steps == 0;
  if (recent_us < 0) return estimated ? std::max(plan_->estimate_us(), kShortRunUs) : kUnknownRunUs;
  return std::max({plan_->estimate_us(), static_cast<double>(recent_us), estimated ? 0 : kShortRunUs});
}

void Executable::CountRun(int64_t us) {
  ++executes;
  execute_us += us;
  runs_.Add(us);
}

network::CollectiveCost Executable::NetworkCost(const network::Network& network,
                                                const std::vector<uint32_t>& devices) {
  const hlo::Module* module = nullptr;
  {
    MutexLock lock(&mu_);
    for (const Placed& known : network_costs_) {
      if (known.devices == devices) return known.cost;
    }
    const absl::StatusOr<const hlo::Module*> read = Module();
    if (!read.ok()) return {};
    module = *read;
  }
  network::Network placed = network;  // By participant.
  placed.places.clear();
  for (const uint32_t device : devices) placed.places.push_back(network.places[device]);
  const network::CollectiveCost cost = network::CostOfRun(*module, hlo::ParticipantsOf(*module), placed);
  MutexLock lock(&mu_);
  if (network_costs_.size() >= kPlacesMax) network_costs_.erase(network_costs_.begin());
  network_costs_.push_back({devices, cost});
  return cost;
}

std::string Executable::DescribeArgument(size_t leaf) const {
  const hlo::Computation& entry = signature_->entry();
  const hlo::FlatSignature signature(entry);
  if (leaf >= signature.arguments.size()) return absl::StrFormat("argument %d", leaf);
  const hlo::FlatSignature::Leaf& argument = signature.arguments[leaf];
  const std::string name = entry[entry.parameters()[argument.parameter]].name();
  std::string text =
      absl::StrFormat("parameter %d \"%s\"", argument.parameter, ToAbsl(ClipUtf8(name, kNameMax)));
  if (!argument.index.empty()) absl::StrAppend(&text, ", leaf ", argument.number);
  return text;
}

absl::StatusOr<const hlo::Module*> Executable::Module() {
  if (module_ == nullptr) {
    ASSIGN_OR_RETURN(module_, hlo::FromSerialized(bytes_, {.for_execution = true}));
    bytes_ = std::string();
  }
  return module_.get();
}

Digest Executable::DigestWithoutSource() {
  MutexLock lock(&mu_);
  if (without_source_.has_value()) return *without_source_;
  const absl::StatusOr<const hlo::Module*> module = Module();
  std::optional<hlo::codec::WithoutMetadata> stripped;
  if (module.ok()) stripped = hlo::codec::StripMetadata(hlo::Serialize(**module));
  without_source_ = stripped.has_value() ? Sha256(stripped->module) : digest_;
  return *without_source_;
}

absl::StatusOr<std::vector<bool>> Executable::ComputableResults(const std::vector<bool>& absent) {
  MutexLock lock(&mu_);
  if (!dependences_.has_value()) {
    ASSIGN_OR_RETURN(const hlo::Module* const module, Module());
    dependences_.emplace(*module);
  }
  return dependences_->Computable(absent);
}

absl::StatusOr<std::shared_ptr<const engine::Plan>> Executable::PartialPlan(
    const std::vector<bool>& keep, const engine::CompileOptions& options,
    const std::shared_ptr<MemoryShare>& share) {
  const hlo::Module* module = nullptr;
  {
    MutexLock lock(&mu_);
    for (auto it = partial_.begin(); it != partial_.end(); ++it) {
      if (it->keep != keep) continue;
      partial_.splice(partial_.begin(), partial_, it);
      return it->plan;
    }
    ASSIGN_OR_RETURN(module, Module());
  }
  // Compiles without the lock, so that others can use their plans meanwhile. Two callers that want the same
  // plan compile it twice.
  const std::unique_ptr<hlo::Module> part = hlo::KeepOutputs(*module, keep);
  engine::CompileOptions part_options = options;
  part_options.verify = false;
  // The plan takes its charge along: executes that wait hold it even when it is not kept here any more.
  struct ChargedPlan {
    CompileCharge charge;
    std::unique_ptr<const engine::Plan> plan;
  };
  const auto charged = std::make_shared<ChargedPlan>(ChargedPlan{CompileCharge(share), nullptr});
  part_options.reserve = charged->charge.reserve();
  ASSIGN_OR_RETURN(charged->plan, engine::Compile(*part, part_options));
  charged->charge.CorrectTo(engine::ConstantBytes(*part) + PlanBytes(*charged->plan));
  const std::shared_ptr<const engine::Plan> plan(charged, charged->plan.get());
  std::list<Partial> gone;  // Destroyed after the lock is released.
  MutexLock lock(&mu_);
  partial_.push_front({keep, plan});
  if (partial_.size() > kPartialMax) gone.splice(gone.begin(), partial_, std::prev(partial_.end()));
  return plan;
}

void Executable::DropPartialPlans() {
  std::list<Partial> gone;  // Destroyed after the lock is released.
  MutexLock lock(&mu_);
  gone.swap(partial_);
}

}  // namespace hlod::device
