// Keeps the role of each value (weight, gradient, state of an optimizer), and passes it to the value that
// takes over a donated buffer.
#include "client/tensor/trace/abstract.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/state.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"

namespace hlod::lazy {
namespace {

struct Known {
  Role role = Role::kUnknown;
  std::string name;
  bool recorded = false;  // True when it was written to the preflight log.
};

// The roles by value id. Guarded by TraceLock.
absl::flat_hash_map<uint64_t, Known>& Roles() {
  static auto* const roles = new absl::flat_hash_map<uint64_t, Known>;
  return *roles;
}

}  // namespace

runtime::AbstractSession* AbstractOf(const Place& place) {
  if (place.is_host() || place.runtime->ended()) return nullptr;
  return place.runtime->device(place.ordinal).internal_session()->options().abstract.get();
}

void SetRole(const Tensor& tensor, Role role, std::string_view name) {
  if (!runtime::MayBeAbstract() || !tensor.defined()) return;
  const TraceLock lock;
  Known& known = Roles()[tensor.impl()->value().id];
  if (known.role == Role::kUnknown) known.role = role;
  if (!name.empty()) known.name = std::string(name);
}

void CopyRole(const Tensor& from, const Tensor& to, std::string_view name) {
  if (!runtime::MayBeAbstract() || !from.defined() || !to.defined()) return;
  const TraceLock lock;
  CopyRole(from.impl()->value(), to.impl()->value());
  const auto found = Roles().find(to.impl()->value().id);
  if (found != Roles().end() && !name.empty()) found->second.name = std::string(name);
}

void CopyRole(const Value& from, const Value& to) {
  if (!runtime::MayBeAbstract() || &from == &to) return;
  const auto found = Roles().find(from.id);
  if (found == Roles().end()) return;
  Known known = found->second;
  known.recorded = false;
  Roles().try_emplace(to.id, std::move(known));
}

void ForgetRole(const Value& value) {
  if (runtime::MayBeAbstract()) Roles().erase(value.id);
}

bool IsLargeIn(const Place& place, const Value& value) {
  const TraceLock lock;
  const runtime::AbstractSession* const abstract = AbstractOf(place);
  return abstract != nullptr && abstract->IsLarge(hlo::ByteSize(value.shape()).value_or(INT64_MAX));
}

std::string PrintAbstract(TensorImpl& tensor, const Caller& caller) {
  {
    const TraceLock lock;
    if (AbstractOf(tensor.place()) == nullptr) return "";
  }
  const Ref<Value> shown = ShownValue(tensor, "print", caller);
  Force(shown, TraceCause::kPrint, "print", caller);
  const TraceLock lock;
  runtime::AbstractSession* const abstract = AbstractOf(tensor.place());
  if (abstract == nullptr || !shown->IsPlaceholder()) return "";
  abstract->ReadValue(hlo::ByteSize(shown->shape()).value_or(0), Cause::kPrint, /*absent=*/true,
                      CallerScope::Of(caller));
  return absl::StrCat("tensor(placeholder ", ShapeText(*shown), " made at ", LineText(shown->origin), ")");
}

void DeclarePlaceholders(Trace& graph, const Caller& caller) {
  for (const Parameter& parameter : graph.parameters()) {
    if (!parameter.value || parameter.value->state() != Value::State::kPlaceholder) continue;
    Value& value = *parameter.value;
    value.Become(
        ValueOrThrow(DeviceOf(value.place).Placeholder(value.shape(), value.origin), "placeholder", caller));
  }
}

void InheritFromDonated(const std::vector<Value*>& arguments, const std::vector<int>& donated,
                        const std::vector<std::vector<Value*>>& results) {
  // Most programs have no roles or shardings to pass on.
  const auto is_sharded = [&](int index) {
    const Value* const value = arguments[static_cast<size_t>(index)];
    return value != nullptr && value->sharding != nullptr;
  };
  if (!runtime::MayBeAbstract() && std::none_of(donated.begin(), donated.end(), is_sharded)) return;
  std::vector<bool> taken(results.size(), false);
  for (const int index : donated) {
    const Value* const from = arguments[static_cast<size_t>(index)];
    if (from == nullptr) continue;
    for (size_t i = 0; i < results.size(); ++i) {
      Value& first = *results[i].front();
      if (taken[i] || first.type != from->type || first.dims != from->dims) continue;
      taken[i] = true;
      for (Value* const to : results[i]) {
        if (to->sharding == nullptr) to->sharding = from->sharding;
        CopyRole(*from, *to);
      }
      break;
    }
  }
}

void RecordRole(runtime::AbstractSession& session, const Value& value) {
  if (value.state() != Value::State::kData) return;
  const auto found = Roles().find(value.id);
  if (found == Roles().end() && value.sharding == nullptr) return;
  Known& known = Roles()[value.id];
  if (known.recorded) return;
  known.recorded = true;
  static constexpr std::string_view kNames[] = {"", "weight", "gradient", "optimizer"};
  const std::string_view role = kNames[static_cast<size_t>(known.role)];
  // The parts of a divided array are arrays of one chip already.
  for (const Buffer& part : value.buffer().shards()) session.Labelled(part.handle(), role, known.name, "");
  if (!value.buffer().shards().empty()) return;
  session.Labelled(value.buffer().handle(), role, known.name,
                   value.sharding == nullptr ? std::string() : *value.sharding);
}

}  // namespace hlod::lazy
