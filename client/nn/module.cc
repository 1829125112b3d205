// Modules: registration, walking, moving, loading.
#include "hlod/nn/module.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/value/limits.h"
#include "common/base/text/edit_distance.h"
#include "hlod/runtime/error.h"
#include "hlod/tensor/autograd.h"
#include "hlod/tensor/tensor_name.h"

namespace hlod::nn {
namespace {

[[noreturn]] void Throw(std::string text, const char* operation, const Caller& caller) {
  throw Error(MakeError(ErrorKind::kArgument, std::move(text)), operation, CallerScope::Of(caller));
}

}  // namespace

LayerArgument::LayerArgument(const char* name, int64_t value, Limit limit)
    : LayerArgument(name, static_cast<double>(value), limit) {}
LayerArgument::LayerArgument(const char* name, double value, Limit limit)
    : fault_(FaultOf(limit, name, value)) {}
LayerArgument::LayerArgument(const char* name, const Sizes& values, Limit limit) {
  for (const int64_t value : values.values()) {
    if (fault_.empty()) fault_ = FaultOf(limit, name, static_cast<double>(value));
  }
}

Module::Module(Module& parent, PartName part) : made_at_(part.caller()) {
  const std::string& name = part.name();
  const auto same = [&](const auto& other) { return other.first == name; };
  const auto refuse_if = [&](bool holds, const char* why) {
    if (holds) Throw(absl::StrCat("the name (", name, ") of a part ", why), "module", part.caller());
  };
  refuse_if(name.empty(), "is empty");
  refuse_if(name.find('.') != std::string::npos, "has a dot");
  refuse_if(std::any_of(parent.parts_.begin(), parent.parts_.end(), same),
            "is taken: its parent has another part of that name");
  parent.parts_.emplace_back(name, this);
  parent_ = &parent;
}

Module::Module(Module& parent, PartName name, const char* layer,
               std::initializer_list<LayerArgument> arguments)
    : Module(parent, std::move(name)) {
  for (const LayerArgument& argument : arguments) {
    if (!argument.fault().empty()) Refuse(argument.fault(), layer, made_at_);
  }
}

Module::~Module() {
  for (auto& [name, part] : parts_) part->parent_ = nullptr;
  if (parent_ != nullptr)
    std::erase_if(parent_->parts_, [&](const auto& part) { return part.second == this; });
}

void Module::RegisterParameter(std::string name, Tensor& tensor) {
  if (!tensor.defined()) return;
  if (hlo::IsFloat(tensor.dtype()) || hlo::IsComplex(tensor.dtype())) tensor.RequiresGrad_();
  lazy::SetRole(tensor, lazy::Role::kWeight, name);
  tensors_.push_back({std::move(name), &tensor, true});
}

void Module::RegisterBuffer(std::string name, Tensor& tensor) {
  if (tensor.defined()) tensors_.push_back({std::move(name), &tensor, false});
}

void Module::Walk(const std::string& prefix,
                  const std::function<void(const std::string&, const Entry&)>& body) const {
  for (const Entry& entry : tensors_) body(prefix + entry.name, entry);
  for (const auto& [name, part] : parts_) part->Walk(absl::StrCat(prefix, name, "."), body);
}

void Module::ForEachTensor(const std::function<void(const std::string&, Tensor&)>& body) const {
  Walk("", [&](const std::string& name, const Entry& entry) { body(name, *entry.tensor); });
}

std::vector<std::pair<std::string, Tensor>> Module::Named(bool parameters) const {
  std::vector<std::pair<std::string, Tensor>> named;
  absl::flat_hash_set<uint64_t> seen;
  Walk("", [&](const std::string& name, const Entry& entry) {
    if (entry.is_parameter == parameters && seen.insert(entry.tensor->id()).second) {
      named.emplace_back(name, *entry.tensor);
    }
  });
  return named;
}

std::vector<std::pair<std::string, Tensor>> Module::NamedParameters() const { return Named(true); }
std::vector<std::pair<std::string, Tensor>> Module::NamedBuffers() const { return Named(false); }

std::vector<Tensor> Module::Parameters() const {
  std::vector<Tensor> parameters;
  for (auto& [name, tensor] : NamedParameters()) parameters.push_back(tensor);
  return parameters;
}

void Module::ConvertEach(const std::function<Tensor(const Tensor&)>& convert) {
  const NoGrad scope;
  absl::flat_hash_set<uint64_t> seen;
  ForEachTensor([&](const std::string& name, Tensor& tensor) {
    if (!seen.insert(tensor.id()).second) return;
    const TensorName scope(name);
    const Tensor converted = convert(tensor);
    if (converted.id() == tensor.id()) return;
    if (const Tensor gradient = tensor.Grad(); gradient.defined()) {
      lazy::SetData(gradient, convert(gradient));
    }
    lazy::CopyRole(tensor, converted, name);
    lazy::SetData(tensor, converted);
  });
}

Module& Module::To(const Device& device, Caller caller) {
  ConvertEach([&](const Tensor& tensor) { return tensor.To(device, caller); });
  return *this;
}

Module& Module::To(PrimitiveType type, Caller caller) {
  if (!hlo::IsFloat(type)) {
    Throw(absl::StrCat("a module's floating tensors cannot become ", std::string(hlo::Name(type))), "to",
          caller);
  }
  ConvertEach(
      [&](const Tensor& tensor) { return hlo::IsFloat(tensor.dtype()) ? tensor.To(type, caller) : tensor; });
  return *this;
}

void Module::ZeroGrad() {
  for (Tensor& parameter : Parameters()) parameter.ZeroGrad();
}

Module& Module::Train(bool training) {
  training_ = training;
  for (const auto& [name, part] : parts_) part->Train(training);
  return *this;
}

nn::StateDict Module::StateDict() const {
  nn::StateDict tensors;
  ForEachTensor([&](const std::string& name, Tensor& tensor) { tensors[name] = tensor; });
  return tensors;
}

void Module::LoadStateDict(const nn::StateDict& tensors, bool strict, Caller caller) {
  nn::StateDict mine = StateDict();
  std::vector<std::string> faults;
  for (const auto& [name, tensor] : mine) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) {
      if (strict) faults.push_back(absl::StrCat("missing ", name));
    } else if (found->second.dims() != tensor.dims()) {
      faults.push_back(absl::StrCat(name, " is ", hlo::ToStringNoLayout(found->second.shape()), ", here ",
                                    hlo::ToStringNoLayout(tensor.shape())));
    }
  }
  if (strict) {
    for (const auto& [name, tensor] : tensors) {
      if (!mine.contains(name)) faults.push_back(absl::StrCat("unknown ", name));
    }
  }
  if (!faults.empty()) {
    Throw(absl::StrCat("the tensors do not fit the module: ", absl::StrJoin(faults, "; ")), "load_state_dict",
          caller);
  }
  const NoGrad scope;
  for (auto& [name, tensor] : mine) {
    if (const auto found = tensors.find(name); found != tensors.end()) tensor.Copy_({found->second, caller});
  }
}

TensorSwap::TensorSwap(const Module& module, const nn::StateDict& tensors, Caller caller) {
  const nn::StateDict mine = module.StateDict();
  absl::flat_hash_map<uint64_t, Tensor> by_id;
  for (const auto& [name, tensor] : tensors) {
    const auto found = mine.find(name);
    if (found == mine.end()) {
      const auto nearest = std::min_element(mine.begin(), mine.end(), [&](const auto& a, const auto& b) {
        return EditDistance(a.first, name) < EditDistance(b.first, name);
      });
      Throw(absl::StrCat("the module has no tensor named ", name,
                         nearest == mine.end() ? "" : absl::StrCat("; the nearest is ", nearest->first)),
            "functional_call", caller);
    }
    by_id[found->second.id()] = tensor;
  }
  module.ForEachTensor([&](const std::string&, Tensor& tensor) {
    const auto found = by_id.find(tensor.id());
    if (found == by_id.end()) return;
    kept_.emplace_back(&tensor, tensor);
    tensor = found->second;
  });
}

TensorSwap::~TensorSwap() {
  for (auto& [place, tensor] : kept_) *place = std::move(tensor);
}

}  // namespace hlod::nn
