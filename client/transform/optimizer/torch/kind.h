// The kinds of PyTorch's optimizers. A kind has a rule, and a table of its settings with their limits and the
// names under which they are saved. Also defines OptimizerOf's members: each .cc file with kinds instantiates
// it for their options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/tensor/value/limits.h"
#include "hlod/optim/optimizers.h"

namespace hlod {

// A pointer to a member of the options: a number or a flag.
template <typename Options>
struct Setting {
  const char* name;
  Limit limit = Limit::kNone;
  double Options::*number = nullptr;
  bool Options::*flag = nullptr;

  double Of(const Options& options) const {
    return number != nullptr ? options.*number : static_cast<double>(options.*flag);
  }
  void Set(Options& options, double value) const {
    if (number != nullptr) options.*number = value;
    else options.*flag = value != 0;
  }
};

template <typename Options>
struct OptimizerKind {
  const char* name;  // The name in errors.
  optim::Optimizer (*rule)(const Options&);
  absl::Span<const Setting<Options>> settings;
  // Throws when settings contradict one another; null when they cannot.
  void (*check)(const Options&, const Caller&) = nullptr;

  void Require(const Options& options, const Caller& caller) const {
    for (const Setting<Options>& setting : settings) {
      RequireWithin(setting.limit, setting.name, setting.Of(options), name, caller);
    }
    if (check != nullptr) check(options, caller);
  }
};

template <typename Options>
OptimizerOf<Options>::OptimizerOf(std::vector<ParamGroup<Options>> groups, const Options& defaults,
                                  const OptimizerKind<Options>& kind, const Caller& caller)
    : kind_(&kind), defaults_(defaults) {
  kind.Require(defaults, caller);
  RequireThat(!groups.empty(), "an optimizer takes at least one group of parameters", kind.name, caller);
  for (ParamGroup<Options>& group : groups) {
    AddParamGroup(std::move(group.parameters), group.options.value_or(defaults_), caller);
  }
}

template <typename Options>
void OptimizerOf<Options>::AddParamGroup(std::vector<Tensor> parameters, Caller caller) {
  AddParamGroup(std::move(parameters), defaults_, caller);
}
template <typename Options>
void OptimizerOf<Options>::AddParamGroup(std::vector<Tensor> parameters, const Options& options,
                                         Caller caller) {
  kind_->Require(options, caller);
  AddGroup(std::move(parameters), kind_->rule(options), kind_->name, caller);
  options_.push_back(options);
}

template <typename Options>
const Options& OptimizerOf<Options>::options(size_t group, Caller caller) const {
  RequireGroup(group, "options", caller);
  return options_[group];
}
template <typename Options>
void OptimizerOf<Options>::SetOptions(const Options& options, size_t group, Caller caller) {
  RequireGroup(group, "set_options", caller);
  kind_->Require(options, caller);
  optim::Optimizer update = kind_->rule(options);
  RequireSameStates(group, update, caller);
  Replace(group, std::move(update));
  options_[group] = options;
}

template <typename Options>
double OptimizerOf<Options>::RateOf(size_t group) const {
  return options_[group].lr;
}
template <typename Options>
void OptimizerOf<Options>::SetRate(double lr, size_t group) {
  options_[group].lr = lr;
  Replace(group, kind_->rule(options_[group]));
}

// Returns the setting that schedulers cycle as the momentum; null when the kind has none.
template <typename Options>
const Setting<Options>* MomentumSetting(const OptimizerKind<Options>& kind) {
  for (const Setting<Options>& setting : kind.settings) {
    const std::string_view name = setting.name;
    if (name == "momentum" || name == "beta1") return &setting;
  }
  return nullptr;
}
template <typename Options>
std::optional<double> OptimizerOf<Options>::MomentumOf(size_t group) const {
  const Setting<Options>* const setting = MomentumSetting(*kind_);
  if (setting == nullptr) return std::nullopt;
  return setting->Of(options_[group]);
}
template <typename Options>
void OptimizerOf<Options>::TakeMomentum(double momentum, size_t group, const Caller& caller) {
  Options options = options_[group];
  MomentumSetting(*kind_)->Set(options, momentum);
  SetOptions(options, group, caller);
}

template <typename Options>
std::vector<std::pair<const char*, double>> OptimizerOf<Options>::SettingsOf(size_t group) const {
  std::vector<std::pair<const char*, double>> all;
  for (const Setting<Options>& setting : kind_->settings) {
    all.emplace_back(setting.name, setting.Of(options_[group]));
  }
  return all;
}
template <typename Options>
optim::Optimizer OptimizerOf<Options>::RuleOf(const std::vector<double>& settings) const {
  return kind_->rule(OptionsOf(settings));
}
template <typename Options>
void OptimizerOf<Options>::TakeSettings(size_t group, const std::vector<double>& settings) {
  options_[group] = OptionsOf(settings);
}
template <typename Options>
Options OptimizerOf<Options>::OptionsOf(const std::vector<double>& settings) const {
  Options options = defaults_;
  for (size_t i = 0; i < settings.size(); ++i) kind_->settings[i].Set(options, settings[i]);
  return options;
}

}  // namespace hlod
