// The hooks of modules: their order, their removal, and the call between them.
#include "client/nn/module_hooks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/tensor/autograd/grad_hooks.h"
#include "client/tensor/value/layer_scope.h"
#include "client/tensor/value/throw.h"

namespace hlod::nn {
namespace {

void CheckCount(const char* what, size_t left, size_t given) {
  if (left == given) return;
  lazy::Throw(ErrorKind::kArgument, absl::StrCat("a hook left ", left, " ", what, " of ", given), "hook",
              Caller{});
}

std::string PathOf(const void* module) { return static_cast<const Module*>(module)->Path(); }

// One call of a module with backward hooks: the tape holds it, and may outlive the module.
struct BackwardCall {
  std::vector<ModuleHooks::Hook<FullBackwardHook>> hooks;
  const Module* module;
  std::weak_ptr<const ModuleHooks> of;  // Ends with the module.
  std::vector<Tensor> grad_outputs;

  void Run(std::vector<Tensor>& grad_inputs) {
    if (of.expired()) return;
    const size_t count = grad_inputs.size();
    for (const auto& hook : hooks) {
      hook.call(*module, grad_inputs, grad_outputs);
      CheckCount("gradients of inputs", grad_inputs.size(), count);
    }
    grad_outputs.clear();
  }
};

bool RequireGrad(Tensors tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); });
}

}  // namespace

std::vector<Tensor> ModuleHooks::Around(const Module& module, Tensors inputs,
                                        absl::FunctionRef<std::vector<Tensor>(Tensors)> body) const {
  for (const auto& weight : weights) weight->weight() = weight->Compute(module.training());
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  // Calls copies, because a hook may remove itself.
  for (const auto& hook : std::vector(before)) {
    hook.call(module, given);
    CheckCount("inputs", given.size(), inputs.size());
  }
  const auto call = std::make_shared<BackwardCall>(BackwardCall{backward, &module, weak_from_this(), {}});
  const bool has_inputs = RequireGrad(given);
  if (!backward.empty()) {
    given = lazy::Watched(
        given, [call](std::vector<Tensor>& gradients) { call->Run(gradients); }, Caller{});
  }
  std::vector<Tensor> outputs = body(given);
  for (const auto& hook : std::vector(after)) {
    const size_t count = outputs.size();
    hook.call(module, given, outputs);
    CheckCount("outputs", outputs.size(), count);
  }
  if (backward.empty()) return outputs;
  const auto watch = [call, has_inputs, count = given.size()](std::vector<Tensor>& gradients) {
    call->grad_outputs = gradients;
    std::vector<Tensor> none(count);
    if (!has_inputs) call->Run(none);
  };
  return lazy::Watched(outputs, watch, Caller{});
}

Tensor* ModuleHooks::Unregister(Module& module, const std::string& name) {
  const auto found = std::find_if(module.tensors_.begin(), module.tensors_.end(), [&](const auto& entry) {
    return entry.is_parameter && entry.name == name;
  });
  if (found == module.tensors_.end()) return nullptr;
  Tensor* const tensor = found->tensor;
  module.tensors_.erase(found);
  return tensor;
}

void ModuleHooks::Unregister(Module& module, const Tensor* tensor) {
  std::erase_if(module.tensors_, [&](const auto& entry) { return entry.tensor == tensor; });
}

void RemovableHandle::Remove() {
  const std::shared_ptr<ModuleHooks> hooks = hooks_.lock();
  if (hooks == nullptr) return;
  const auto is_it = [&](const auto& hook) { return hook.id == id_; };
  std::erase_if(hooks->before, is_it);
  std::erase_if(hooks->after, is_it);
  std::erase_if(hooks->backward, is_it);
}

ModuleHooks& Module::hooks() {
  if (hooks_ == nullptr) hooks_ = std::make_shared<ModuleHooks>();
  return *hooks_;
}

RemovableHandle Module::RegisterForwardPreHook(ForwardPreHook hook) {
  const int64_t id = hooks().next_id++;
  hooks_->before.push_back({id, std::move(hook)});
  return {hooks_, id};
}

RemovableHandle Module::RegisterForwardHook(ForwardHook hook) {
  const int64_t id = hooks().next_id++;
  hooks_->after.push_back({id, std::move(hook)});
  return {hooks_, id};
}

RemovableHandle Module::RegisterFullBackwardHook(FullBackwardHook hook) {
  const int64_t id = hooks().next_id++;
  hooks_->backward.push_back({id, std::move(hook)});
  return {hooks_, id};
}

std::vector<Tensor> Module::ForwardAll(const Caller& caller, std::initializer_list<Tensor> inputs,
                                       absl::FunctionRef<std::vector<Tensor>(Tensors)> body) const {
  const CallerScope scope(caller);
  const lazy::LayerScope layer(this, PathOf);
  const Tensors given(inputs.begin(), inputs.size());
  const std::shared_ptr<const ModuleHooks> hooks = hooks_;
  return hooks == nullptr ? body(given) : hooks->Around(*this, given, body);
}

Tensor Module::Forward(const Caller& caller, std::initializer_list<Tensor> inputs,
                       absl::FunctionRef<Tensor(Tensors)> body) const {
  if (hooks_ != nullptr) {
    return ForwardAll(caller, inputs, [&](Tensors in) { return std::vector<Tensor>{body(in)}; })[0];
  }
  const CallerScope scope(caller);
  const lazy::LayerScope layer(this, PathOf);
  return body(Tensors(inputs.begin(), inputs.size()));
}

void Module::Refuse(std::string text, const char* operation, const Caller& caller) const {
  const lazy::LayerScope layer(this, PathOf);
  lazy::Throw(ErrorKind::kArgument, std::move(text), operation, caller);
}

}  // namespace hlod::nn
