// Automatic mixed precision: the lists, the regions of a thread, and the casts of a call.
#include "client/tensor/dispatch/autocast.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

enum class Policy : uint8_t {
  kNone,     // Computed in the types of the arguments.
  kLower,    // Computed in the region's type.
  kFloat32,  // In f32.
  // Computed in f32, unless the caller specifies a result type: its first argument is converted.
  kSetFloat32,
  kPromote,  // Computed in f32 if an argument is f32, otherwise in the region's type.
  kBanned,   // The operation is refused.
};

struct AutocastRow {
  const char* name;
  Policy policies[3];  // Indexed by AutocastProfile.
};

constexpr AutocastRow kRows[] = {
#define HLOD_AUTOCAST(name, xla, cuda, cpu) {name, {Policy::xla, Policy::cuda, Policy::cpu}},
#include "client/tensor/dispatch/autocast.inc"
#undef HLOD_AUTOCAST
};

const AutocastRow* Find(std::string_view name) {
  static const auto* const rows = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const AutocastRow*>;
    for (const AutocastRow& row : kRows) map->emplace(row.name, &row);
    return map;
  }();
  const auto found = rows->find(ToAbsl(name));
  return found == rows->end() ? nullptr : found->second;
}

// Returns the name under which an operation is listed: "conv2d" for "nn.functional.conv2d", "linalg_vecdot"
// for "linalg.vecdot".
std::string ListedName(const Operation& operation) {
  return absl::StrReplaceAll(absl::StripPrefix(operation.pytorch, "nn.functional."), {{".", "_"}});
}

struct OperationRows {
  const AutocastRow* all = nullptr;
  const AutocastRow* tensor_scalar = nullptr;  // The row for a number as the second argument.
};

const OperationRows& RowsOf(const Operation& operation) {
  thread_local absl::flat_hash_map<const Operation*, OperationRows> known;
  const auto [found, added] = known.try_emplace(&operation);
  if (added) {
    const std::string name = ListedName(operation);
    found->second = {Find(name), Find(absl::StrCat(name, ".Tensor_Scalar"))};
  }
  return found->second;
}

// The id of a tensor, its version, and a type.
using CacheKey = std::tuple<uint64_t, uint64_t, PrimitiveType>;

// The regions of one thread.
struct AutocastState {
  AutocastRegion host{.profile = AutocastProfile::kCpu}, device;
  int depth = 0;
  absl::flat_hash_map<CacheKey, Tensor> cache;

  AutocastRegion& of(bool is_host) { return is_host ? host : device; }
  void Activate() { autocast_active = host.enabled || device.enabled; }
};
AutocastState& TheState() {
  thread_local AutocastState state;
  return state;
}

bool IsHost(const Tensor& tensor) { return tensor.impl()->place().is_host(); }

bool IsEligible(const Tensor& tensor) {
  return tensor.defined() && hlo::IsFloat(tensor.dtype()) && tensor.dtype() != hlo::kF64 &&
         TheState().of(IsHost(tensor)).enabled;
}

// Returns the type that eligible arguments are cast to, or nullopt.
std::optional<PrimitiveType> TargetOf(Policy policy, const AutocastRegion& region, const char* name,
                                      absl::Span<const Tensor* const> arguments) {
  switch (policy) {
    case Policy::kNone: return std::nullopt;
    case Policy::kLower: return region.type;
    case Policy::kFloat32:
    case Policy::kSetFloat32: return hlo::kF32;
    case Policy::kBanned:
      Refuse("%s is not safe under autocast: take the form that has the sigmoid inside (%s_with_logits)",
             name, name);
    case Policy::kPromote: break;
  }
  PrimitiveType widest = region.type;
  for (const Tensor* argument : arguments) {
    if (argument == nullptr || !IsEligible(*argument)) continue;
    const PrimitiveType type = argument->dtype();
    if (type == hlo::kF32) widest = hlo::kF32;
    else if (type != region.type && widest != hlo::kF32) {
      Refuse("%s cannot promote %s and autocast's %s: neither holds the other", name, hlo::Name(type),
             hlo::Name(region.type));
    }
  }
  return widest;
}

// Casts a tensor. Calls in the outermost region share the cast of a weight.
Tensor Cast(const Tensor& tensor, PrimitiveType type, const Caller& caller) {
  if (tensor.dtype() == type) return tensor;
  const TensorImpl& impl = *tensor.impl();
  const bool weight = tensor.dtype() == hlo::kF32 && IsGradLeaf(impl) && !impl.is_view();
  // A cast made in a NoGrad scope or a traced function must not be used outside of it.
  const bool cached =
      TheState().of(IsHost(tensor)).cache && weight && GradMode() && FunctionTrace::Innermost() == nullptr;
  if (!cached) return tensor.To(type, caller);
  Tensor& copy = TheState().cache[{impl.id, impl.storage->version, type}];
  if (!copy.defined()) copy = tensor.To(type, caller);
  return copy;
}

}  // namespace

constinit thread_local bool autocast_active = false;

std::string RegionsText() {
  std::string text;
  if (!autocast_active) return text;
  for (const AutocastRegion& region : {TheState().host, TheState().device}) {
    if (!region.enabled) absl::StrAppend(&text, "autocast(-)");
    else
      absl::StrAppend(&text, "autocast(", ToAbsl(hlo::Name(region.type)), " ",
                      static_cast<int>(region.profile), ")");
  }
  return text;
}

CastOperands::CastOperands(const Operation& operation, absl::Span<const Operand> operands)
    : operands_(operands.begin(), operands.end()) {
  const OperationRows& rows = RowsOf(operation);
  const bool scalar = operands.size() == 2 && operands[1].tensor() == nullptr;
  const AutocastRow* row = scalar && rows.tensor_scalar != nullptr ? rows.tensor_scalar : rows.all;
  if (row == nullptr) return;
  std::vector<const Tensor*> arguments;
  for (const Operand& operand : operands) arguments.push_back(operand.tensor());
  const auto eligible = std::find_if(arguments.begin(), arguments.end(), [](const Tensor* argument) {
    return argument != nullptr && IsEligible(*argument);
  });
  if (eligible == arguments.end()) return;
  const AutocastRegion& region = TheState().of(IsHost(**eligible));
  const Policy policy = row->policies[static_cast<size_t>(region.profile)];
  const auto target = TargetOf(policy, region, row->name, arguments);
  if (!target) return;
  tensors_.reserve(operands.size());  // operands_ refers to these tensors, so they must not move.
  for (Operand& operand : operands_) {
    if (operand.tensor() == nullptr || !IsEligible(*operand.tensor())) continue;
    tensors_.push_back(Cast(*operand.tensor(), *target, operand.caller()));
    operand = Operand(tensors_.back(), operand.caller());
  }
}

CompositeCast::CompositeCast(const char* name, std::initializer_list<const Tensor*> arguments) {
  if (!autocast_active) return;
  const AutocastRow* row = Find(name);
  if (row == nullptr) return;
  AutocastState& state = TheState();
  const auto target = [&](const AutocastRegion& region) -> std::optional<PrimitiveType> {
    if (!region.enabled) return std::nullopt;
    // The tensors that the region applies to: on the host, or on devices.
    std::vector<const Tensor*> concerned;
    for (const Tensor* argument : arguments) {
      const bool here = argument != nullptr && argument->defined() && &state.of(IsHost(*argument)) == &region;
      if (here) concerned.push_back(argument);
    }
    if (concerned.empty()) return std::nullopt;
    return TargetOf(row->policies[static_cast<size_t>(region.profile)], region, name, concerned);
  };
  try {
    host_type_ = target(state.host);
    device_type_ = target(state.device);
  } catch (const Refusal& refusal) {
    Throw(refusal.status, name, Caller{});
  }
  suspends_ = host_type_ || device_type_;
  if (suspends_) autocast_active = false;
}

CompositeCast::~CompositeCast() {
  if (suspends_) TheState().Activate();
}

Tensor CompositeCast::operator()(const Tensor& argument) const {
  if (!suspends_ || !IsEligible(argument)) return argument;
  const auto type = IsHost(argument) ? host_type_ : device_type_;
  return type ? Cast(argument, *type, Caller{}) : argument;
}

}  // namespace hlod::lazy

namespace hlod {
namespace {

constexpr const char* kProfileNames[] = {"XLA", "CUDA", "CPU"};

}  // namespace

Autocast::Autocast(PrimitiveType type, const AutocastOptions& options)
    : outer_host_(lazy::TheState().host), outer_device_(lazy::TheState().device) {
  Enter(true, type, options);
  Enter(false, type, options);
  ++lazy::TheState().depth;
}

Autocast::Autocast(const Device& device, PrimitiveType type, const AutocastOptions& options)
    : outer_host_(lazy::TheState().host), outer_device_(lazy::TheState().device) {
  Enter(device.is_host(), type, options);
  ++lazy::TheState().depth;
}

void Autocast::Enter(bool host, PrimitiveType type, const AutocastOptions& options) {
  const AutocastProfile profile =
      options.profile.value_or(host ? AutocastProfile::kCpu : AutocastProfile::kXla);
  bool enabled = options.enabled;
  if (enabled && type != hlo::kBF16 && type != hlo::kF16) {
    const char* name = kProfileNames[static_cast<size_t>(profile)];
    const char* types = profile == AutocastProfile::kXla ? "torch.bfloat16" : "torch.bfloat16, torch.float16";
    std::fprintf(stderr,
                 "In %s autocast, but the target dtype is not supported. Disabling autocast.\n"
                 "%s Autocast only supports dtype of %s currently.\n",
                 name, name, types);
    enabled = false;
  }
  lazy::TheState().of(host) = {enabled, options.cache, type, profile};
  lazy::TheState().Activate();
}

Autocast::~Autocast() {
  lazy::AutocastState& state = lazy::TheState();
  state.host = outer_host_;
  state.device = outer_device_;
  state.Activate();
  if (--state.depth == 0) state.cache.clear();
}

std::optional<PrimitiveType> AutocastType(const Device& device) {
  const AutocastRegion& region = lazy::TheState().of(device.is_host());
  if (!region.enabled) return std::nullopt;
  return region.type;
}

}  // namespace hlod
