// Optimizers in PyTorch's style: the chains of Optax, one per parameter, applied in place.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/limits.h"
#include "client/tensor/value/throw.h"
#include "client/transform/optimizer/torch/with_grad.h"
#include "common/base/text/count.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/math.h"
#include "hlod/ops/shape.h"
#include "hlod/optim/optimizers.h"
#include "hlod/tensor/autograd.h"

namespace hlod {
namespace {

// Returns a parameter or gradient in the form that the rules use: as in PyTorch, the real and the imaginary
// parts of complex numbers are separate parameters.
Tensor Parts(const Tensor& x) { return hlo::IsComplex(x.dtype()) ? ViewAsReal(x) : x; }

std::string NameOf(size_t parameter, size_t link, size_t tensor) {
  return absl::StrCat("state.", parameter, ".", link, ".", tensor);
}
std::string SettingName(size_t group, const char* name) { return absl::StrCat("groups.", group, ".", name); }
Tensor SettingTensor(double value) { return FromValues<double>({value}, Dims{}); }

// Restores `after` to the state before the step if `skip` is true.
void KeepWhere(const Tensor& skip, const optim::State& before, optim::State& after) {
  for (size_t link = 0; link < after.parts.size(); ++link) {
    for (size_t k = 0; k < after.parts[link].size(); ++k) {
      const Tensor &old = before.parts[link][k], now = after.parts[link][k];
      after.parts[link][k] = Where(skip, old, now).To(old.dtype());
    }
  }
}

bool SameLayout(const optim::State& a, const optim::State& b) {
  const auto same = [](const std::vector<Tensor>& x, const std::vector<Tensor>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Tensor& s, const Tensor& t) { return s.dims() == t.dims(); });
  };
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same);
}

// Reads a loaded state and collects its faults.
class StateReader {
 public:
  StateReader(const std::map<std::string, Tensor>& state, const Caller& caller)
      : state_(state), caller_(caller) {}

  // Returns the tensor with that name, in the type and on the device of `like`. If it is missing or has
  // another shape, records the fault and returns `like`.
  Tensor Take(const std::string& name, const Tensor& like) {
    const auto found = state_.find(name);
    if (found == state_.end()) {
      faults_.push_back(absl::StrCat("missing ", name));
      return like;
    }
    ++used_;
    const Tensor& tensor = found->second;
    if (tensor.dims() != like.dims()) {
      faults_.push_back(absl::StrCat(name, " is ", hlo::ToStringNoLayout(tensor.shape()), ", here ",
                                     hlo::ToStringNoLayout(like.shape())));
      return like;
    }
    return tensor.To(like.dtype(), caller_).To(like.device(), caller_).Clone(caller_);
  }
  double TakeNumber(const std::string& name, double like) {
    return Take(name, SettingTensor(like)).Item<double>(caller_);
  }
  bool HasPrefix(const std::string& prefix) const {
    const auto first = state_.lower_bound(prefix);
    return first != state_.end() && first->first.starts_with(prefix);
  }
  void Fault(std::string text) { faults_.push_back(std::move(text)); }

  // Throws when there were faults, or tensors that were not taken.
  void Finish(size_t parameters) {
    if (used_ < state_.size()) {
      Fault(absl::StrCat("of its ", state_.size(), " tensors ", state_.size() - used_,
                         " are not of an optimizer of this kind and ", parameters, " parameters"));
    }
    RequireThat(faults_.empty(),
                absl::StrCat("the state does not fit the optimizer: ", absl::StrJoin(faults_, "; ")),
                "load_state_dict", caller_);
  }

 private:
  const std::map<std::string, Tensor>& state_;
  const Caller caller_;
  std::vector<std::string> faults_;
  size_t used_ = 0;
};

}  // namespace

void ParameterOptimizer::AddGroup(std::vector<Tensor> parameters, optim::Optimizer update, const char* name,
                                  const Caller& caller) {
  RequireThat(!parameters.empty(), absl::StrCat("group ", groups_.size(), " has no parameters"), name,
              caller);
  std::set<const lazy::TensorImpl*> others;
  for (const Tensor& parameter : parameters_) others.insert(parameter.impl());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto fault = [&](const char* text) {
      return absl::StrCat("parameter ", i, " of group ", groups_.size(), text);
    };
    RequireThat(parameters[i].defined(), fault(" is undefined"), name, caller);
    RequireThat(!others.contains(parameters[i].impl()), fault(" is in another group, too"), name, caller);
  }
  const size_t begin = parameters_.size();
  parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
  states_.resize(parameters_.size());
  groups_.push_back({begin, parameters_.size(), std::move(update)});
}

void ParameterOptimizer::RequireGroup(size_t group, const char* operation, const Caller& caller) const {
  RequireThat(group < groups_.size(),
              absl::StrCat("group ", group, " is asked for; the optimizer has ",
                           CountText(static_cast<int64_t>(groups_.size()), "group")),
              operation, caller);
}

void ParameterOptimizer::RequireSameStates(size_t group, const optim::Optimizer& update,
                                           const Caller& caller) const {
  for (size_t i = groups_[group].begin; i < groups_[group].end; ++i) {
    if (!states_[i].has_value()) continue;
    RequireThat(SameLayout(*states_[i], update.InitLeaves({Parts(parameters_[i].Detach())})),
                absl::StrCat("with these settings something else is remembered of parameter ", i,
                             ", which has made a step"),
                "set_options", caller);
  }
}

const optim::State* ParameterOptimizer::state_of(size_t parameter) const {
  return states_[parameter].has_value() ? &*states_[parameter] : nullptr;
}

double ParameterOptimizer::learning_rate(size_t group, Caller caller) const {
  RequireGroup(group, "learning_rate", caller);
  return RateOf(group);
}
void ParameterOptimizer::SetLearningRate(double lr) {
  for (size_t group = 0; group < groups_.size(); ++group) SetLearningRate(lr, group);
}
void ParameterOptimizer::SetLearningRate(double lr, size_t group, Caller caller) {
  RequireGroup(group, "set_learning_rate", caller);
  groups_[group].first_rate.reset();
  SetRate(lr, group);
}
double ParameterOptimizer::FirstRate(size_t group) {
  std::optional<double>& first = groups_[group].first_rate;
  if (!first.has_value()) first = RateOf(group);
  return *first;
}

std::optional<double> ParameterOptimizer::momentum(size_t group, Caller caller) const {
  RequireGroup(group, "momentum", caller);
  return MomentumOf(group);
}
void ParameterOptimizer::SetMomentum(double momentum, size_t group, Caller caller) {
  RequireGroup(group, "set_momentum", caller);
  RequireThat(MomentumOf(group).has_value(), "the optimizer has neither a momentum nor betas", "set_momentum",
              caller);
  TakeMomentum(momentum, group, caller);
}

void ParameterOptimizer::Step(Caller caller) { StepWhere(nullptr, caller); }
void ParameterOptimizer::StepUnless(const Tensor& skip, Caller caller) { StepWhere(&skip, caller); }
Tensor ParameterOptimizer::Step(const std::function<Tensor()>& closure, Caller caller) {
  Tensor loss = [&] {
    const WithGrad with_grad;
    return closure();
  }();
  Step(caller);
  return loss;
}

void ParameterOptimizer::StepWhere(const Tensor* skip, const Caller& caller) {
  const NoGrad no_grad;
  const CallerScope scope(caller);
  for (const Group& group : groups_) {
    for (size_t i = group.begin; i < group.end; ++i) UpdateOne(i, group.update, skip, caller);
  }
}

void ParameterOptimizer::UpdateOne(size_t i, const optim::Optimizer& update, const Tensor* skip,
                                   const Caller& caller) {
  Tensor& parameter = parameters_[i];
  const Tensor gradient = parameter.Grad();
  if (!gradient.defined()) return;
  if (!(gradient.shape() == parameter.shape())) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("parameter ", i, " is ", hlo::ToStringNoLayout(parameter.shape()),
                             " and its gradient ", hlo::ToStringNoLayout(gradient.shape())),
                "step", caller);
  }
  const std::vector<Tensor> before = {Parts(parameter.Detach())};
  if (!states_[i].has_value()) states_[i] = update.InitLeaves(before);
  std::vector<Tensor> updates = {Parts(gradient)};
  optim::State next = update.UpdateLeaves(updates, *states_[i], before);
  Tensor after = optim::ApplyLeaves(before, updates)[0];
  if (skip != nullptr) {
    const Tensor here = skip->To(parameter.device());
    KeepWhere(here, *states_[i], next);
    after = Where(here, before[0], after);
  }
  states_[i] = std::move(next);
  parameter.Copy_(Operand(hlo::IsComplex(parameter.dtype()) ? ViewAsComplex(after) : after, caller));
}

void ParameterOptimizer::ZeroGrad() {
  for (Tensor& parameter : parameters_) parameter.ZeroGrad();
}

std::map<std::string, Tensor> ParameterOptimizer::StateDict() const {
  std::map<std::string, Tensor> all;
  for (size_t group = 0; group < groups_.size(); ++group) {
    all[SettingName(group, "size")] =
        SettingTensor(static_cast<double>(groups_[group].end - groups_[group].begin));
    for (const auto& [name, value] : SettingsOf(group)) all[SettingName(group, name)] = SettingTensor(value);
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].has_value()) continue;
    const auto& parts = states_[i]->parts;
    for (size_t link = 0; link < parts.size(); ++link) {
      for (size_t k = 0; k < parts[link].size(); ++k) all[NameOf(i, link, k)] = parts[link][k];
    }
  }
  return all;
}

void ParameterOptimizer::LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller) {
  const NoGrad scope;
  StateReader reader(state, caller);
  std::vector<std::vector<double>> settings;
  std::vector<std::optional<optim::State>> states(parameters_.size());
  for (size_t group = 0; group < groups_.size(); ++group) {
    const size_t size = groups_[group].end - groups_[group].begin;
    const double saved = reader.TakeNumber(SettingName(group, "size"), static_cast<double>(size));
    if (saved != static_cast<double>(size)) {
      reader.Fault(absl::StrCat("its group ", group, " has ", saved, " parameters, here ", size));
    }
    settings.emplace_back();
    for (const auto& [name, value] : SettingsOf(group)) {
      settings.back().push_back(reader.TakeNumber(SettingName(group, name), value));
    }
    const optim::Optimizer update = RuleOf(settings.back());
    for (size_t i = groups_[group].begin; i < groups_[group].end; ++i) {
      if (!reader.HasPrefix(absl::StrCat("state.", i, "."))) continue;
      states[i] = update.InitLeaves({Parts(parameters_[i].Detach())});
      for (size_t link = 0; link < states[i]->parts.size(); ++link) {
        std::vector<Tensor>& tensors = states[i]->parts[link];
        for (size_t k = 0; k < tensors.size(); ++k) tensors[k] = reader.Take(NameOf(i, link, k), tensors[k]);
      }
    }
  }
  reader.Finish(parameters_.size());
  for (size_t group = 0; group < groups_.size(); ++group) {
    TakeSettings(group, settings[group]);
    Replace(group, RuleOf(settings[group]));
  }
  states_ = std::move(states);
}

}  // namespace hlod
